// The JSON schema of a catalogue document, for editors: GET /catalog.schema.json and `tollgate catalog schema`.
import { catalogSchema } from '../../../schemas/catalog.js'

/** A schema by itself: what it names is in `$defs`. */
export function catalogJsonSchema(): object {
  const { components, schemas } = catalogSchema
  const text = JSON.stringify({ ...schemas[0], $defs: components.schemas ?? {} })
  const root = JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')) as object
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'tollgate-catalog',
    title: 'Catalogue of a Tollgate environment',
    ...root,
  }
}
