// The catalogs of a shard: one for each environment, compiled when it comes.
import { type Catalog, compileCatalog } from '../../src/core/catalog.js'
import type { CatalogData } from '../../src/core/model/definitions.js'
import { changedFlags } from './changed-flags.js'
import { EnvironmentGone } from './gone.js'

export class Catalogs {
  private readonly byEnvironment = new Map<string, Catalog>()
  /** A number for each catalog: a company that named the catalog itself would keep it in memory. */
  private readonly editions = new Map<string, number>()
  private edition = 0

  /** Use this catalog from now on. Returns the flags that alone have changed; null: other definitions have, or all are new. */
  hold(data: CatalogData): readonly string[] | null {
    const before = this.byEnvironment.get(data.environmentId)
    this.byEnvironment.set(data.environmentId, compileCatalog(data))
    this.editions.set(data.environmentId, ++this.edition)
    return before === undefined ? null : changedFlags(before.data, data)
  }

  /** Whether the catalog in use is of a later version. */
  hasLater({ environmentId, version }: CatalogData): boolean {
    const held = this.byEnvironment.get(environmentId)
    return held !== undefined && held.data.version > version
  }

  /** The catalog in use; undefined for an environment without one. */
  get(environmentId: string): Catalog | undefined {
    return this.byEnvironment.get(environmentId)
  }

  /** The catalog in use. Errors: EnvironmentGone for an environment without one. */
  of(environmentId: string): Catalog {
    const catalog = this.byEnvironment.get(environmentId)
    if (!catalog) throw new EnvironmentGone(`no catalog of environment ${environmentId}`)
    return catalog
  }

  /** The number of the catalog in use. */
  editionOf(environmentId: string): number {
    return this.editions.get(environmentId)!
  }

  forget(environmentId: string): void {
    this.byEnvironment.delete(environmentId)
    this.editions.delete(environmentId)
  }
}
