// The operations of the catalogue document, part of operations.ts.
import type { Catalog, CatalogApplied, CatalogDiff, CatalogWrite } from './catalog.js'

export interface CatalogOperations {
  /**
   * All that the environment defines as one document, by keys and names instead of ids: traits, features, flags with
   * rules, credits, plans with their published version and draft, bundles, the plan group, prices of models, limits of
   * publishable keys. Its form is the same for the same content.
   */
  'GET /catalog': { id: 'getCatalog'; data: Catalog }
  /**
   * Brings the environment to the document. Nothing is removed without `prune`. Changes of published plans wait in their
   * drafts unless `publish` says how companies move. Each plan is one transaction.
   */
  'POST /catalog/apply': { id: 'applyCatalog'; body: CatalogWrite; data: CatalogApplied }
  /** Tells what applying the document would make, change and archive, and the companies that feel it. Changes nothing. */
  'POST /catalog/diff': { id: 'diffCatalog'; body: CatalogWrite; data: CatalogDiff }
}
