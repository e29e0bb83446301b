// Random catalogues through export and apply; test/laws/catalog-long.test.ts runs many more.
import t from 'tap'
import { times } from '../random.js'
import { catalogLaw } from './catalog-law.js'

t.setTimeout(600_000)
await t.test('CA-2 CA-8 an exported catalogue, applied where nothing is, exports as the same text', t =>
  catalogLaw(t, times(4)),
)
