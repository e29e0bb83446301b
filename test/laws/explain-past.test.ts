// The law of past explanations over some hundred decisions.
import t from 'tap'
import { times } from '../random.js'
import { pastLaw } from './explain-past-law.js'

t.setTimeout(1_200_000)
await t.test('EX-6 recorded decisions are explained as they were', t => pastLaw(t, times(120)))
