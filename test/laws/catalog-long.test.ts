// The law of the catalogue document over 200 random catalogues.
import t from 'tap'
import { times } from '../random.js'
import { catalogLaw } from './catalog-law.js'

t.setTimeout(3_600_000)
await t.test('CA-2 CA-8 an exported catalogue, applied where nothing is, exports as the same text', t =>
  catalogLaw(t, times(200)),
)
