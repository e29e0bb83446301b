// The journal's own writing of facts is JSON.stringify's.
import fc from 'fast-check'
import t from 'tap'
import type { Effect, Fact } from '../../src/core/message.js'
import { factText } from '../../src/journal/fact-text.js'

const seed = Number(process.env.TOLLGATE_SEED ?? Date.now() % 2 ** 31)

const effect: fc.Arbitrary<Effect> = fc.oneof(
  fc.record({
    t: fc.constant('used' as const),
    subtype: fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('api_call', 'a"b', '\u2028', 'a\\b', ''),
    ),
    quantity: fc.maxSafeInteger(),
    atMs: fc.maxSafeInteger(),
  }),
  fc.record({ t: fc.constant('seen' as const), atMs: fc.maxSafeInteger() }),
  fc.record({ t: fc.constant('named' as const), name: fc.string() }),
)

const fact: fc.Arbitrary<Fact> = fc
  .record(
    {
      k: fc.constantFrom('c' as const, 'u' as const, 'e' as const),
      id: fc.constant('comp_23456789ABC'),
      env: fc.constant('env_23456789ABC'),
      at: fc.maxSafeInteger(),
      fx: fc.array(effect, { maxLength: 4 }),
      ik: fc.tuple(fc.string({ unit: 'binary' }), fc.constant('evt_23456789ABC'), fc.maxSafeInteger()),
    },
    { requiredKeys: ['k', 'id', 'env', 'at', 'fx'] },
  )
  .map(one => ({ ...one }))

t.test('a fact is written as JSON.stringify writes it', async t => {
  t.comment(`seed ${seed}`)
  fc.assert(
    fc.property(fact, one => factText(one) === JSON.stringify(one)),
    { seed, numRuns: 2_000 },
  )
})
