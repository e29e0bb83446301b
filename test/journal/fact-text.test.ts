// The journal's own writing of facts is JSON.stringify's.
import fc from 'fast-check'
import t from 'tap'
import { factText } from '../../src/journal/fact-text.js'
import { fact } from './facts.js'

const seed = Number(process.env.TOLLGATE_SEED ?? Date.now() % 2 ** 31)

t.test('a fact is written as JSON.stringify writes it', async t => {
  t.comment(`seed ${seed}`)
  fc.assert(
    fc.property(fact, one => factText(one) === JSON.stringify(one)),
    { seed, numRuns: 2_000 },
  )
})

t.test('beside the rows of its draws a fact leaves out what those alone tell', async t => {
  t.comment(`seed ${seed}`)
  fc.assert(
    fc.property(fact, one => {
      const fx = one.fx.map(effect =>
        effect.t === 'credit_draw' ? { ...effect, f: undefined, e: undefined, u: undefined } : effect,
      )
      // what goes through JSON.stringify keeps all
      const plain = one.fx.every(({ t }) => t === 'used' || t === 'seen' || t === 'credit_draw')
      return factText(one, true) === JSON.stringify(plain ? { ...one, fx } : one)
    }),
    { seed, numRuns: 2_000 },
  )
})
