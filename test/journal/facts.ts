// Facts as fast-check makes them.
import fc from 'fast-check'
import type { Effect, Fact } from '../../src/core/model/message.js'
import { encodeId } from '../../src/core/values/id.js'
import type { Draw } from '../../src/journal/records/ledger-rows.js'

const moved = fc.oneof(fc.maxSafeNat(), fc.bigInt({ min: 2n ** 53n, max: 2n ** 90n }).map(String))
const nanos = fc.oneof(fc.maxSafeInteger(), moved)

/** A draw, its members in the order that the core makes them in. */
export const draw: fc.Arbitrary<Draw> = fc.record(
  {
    t: fc.constant('credit_draw' as const),
    c: fc.constant('bcrd_23456789ABC'),
    seq: fc.nat(),
    at: fc.maxSafeInteger(),
    now: fc.maxSafeInteger(),
    f: fc.constant('feat_23456789ABC'),
    e: fc.constant('evt_23456789ABC'),
    u: fc.constant('user_23456789ABC'),
    s: fc.array(fc.tuple(fc.nat(), moved, nanos), { maxLength: 4 }),
    un: nanos,
    ext: nanos,
  },
  { requiredKeys: ['t', 'c', 'seq', 'at', 's'] },
)

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
  draw,
)

/** Draws that rows beside a fact of this time tell: for no ledger kept elsewhere, and settled then. */
export function tellable(draws: readonly Draw[], at: number): Draw[] {
  return draws.map(({ now: _, ext: __, ...one }) => (one.at === at ? one : { ...one, now: at }))
}

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
