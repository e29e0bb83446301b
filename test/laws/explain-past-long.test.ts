// The law of past explanations over a thousand decisions.
import t from 'tap'
import { times } from '../random.js'
import { pastLaw } from './explain-past-law.js'

t.setTimeout(3_600_000)
await t.test('EX-6 a thousand recorded decisions are explained as they were', t => pastLaw(t, times(1_000)))
