// The journal's own writing of facts is JSON.stringify's.

import fc from 'fast-check'
import t from 'tap'
import type { Effect } from '../../../src/core/company/message.js'
import { factText } from '../../../src/journal/records/fact-encoder.js'
import { seed } from '../../random.js'
import { fact } from '../facts.js'

t.test('a fact is written as JSON.stringify writes it', async t => {
  t.comment(`seed ${seed}`)
  fc.assert(
    fc.property(fact, one => factText(one) === JSON.stringify(one)),
    { seed, numRuns: 2_000 },
  )
})

t.test('beside the rows of its draws a fact has nothing of them but what stayed uncovered', async t => {
  t.comment(`seed ${seed}`)
  fc.assert(
    fc.property(fact, one => {
      const fx = one.fx.flatMap((effect): Effect[] => {
        if (effect.t !== 'credit_draw') return [effect]
        return effect.s.length > 0 && effect.un === undefined ? [] : [{ ...effect, s: [] }]
      })
      return factText(one, true) === JSON.stringify({ ...one, fx })
    }),
    { seed, numRuns: 2_000 },
  )
})
