// Facts as fast-check makes them.
import fc from 'fast-check'
import { encodeId } from '../../src/core/id.js'
import type { Effect, Fact } from '../../src/core/message.js'

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

/** Any fact of the common forms, and some others. */
export const fact: fc.Arbitrary<Fact> = fc
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
  .map(one => ({ ...one, id: one.k === 'u' ? encodeId('user_', 0xfedcba98, 0x76543210) : one.id }))
