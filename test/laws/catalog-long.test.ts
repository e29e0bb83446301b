// The law of the catalogue document over more random catalogues; TOLLGATE_RUNS=7 makes 210 of them, in a quarter of an hour.
import t from 'tap'
import { times } from '../random.js'
import { catalogLaw } from './catalog-law.js'

t.setTimeout(3_600_000)
await t.test('CA-2 CA-8 an exported catalogue, applied where nothing is, exports as the same text', t =>
  catalogLaw(t, times(30)),
)
