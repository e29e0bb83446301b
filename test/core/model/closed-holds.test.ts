// Holds that are over, as a list that never changes: a law against a plain list.
import t from 'tap'
import { type ClosedHold, ClosedHolds } from '../../../src/core/model/closed-holds.js'
import { holdId } from '../../../src/core/values/hold-id.js'
import { Random, times } from '../../random.js'

const companyId = 'comp_q5LtRiEB4W6'
const most = 100
const random = new Random()
t.comment(`seed ${random.seed}`)

/** A list and what it should hold. */
interface Pair {
  readonly list: ClosedHolds
  readonly model: readonly ClosedHold[]
}

let made = 0

function newHold(atMs: number): ClosedHold {
  made++
  const isFar = random.chance(0.05)
  const amount = () => (isFar ? 2n ** 53n + BigInt(random.below(1_000)) : BigInt(random.below(1_000_000)))
  const keys = Array.from(
    { length: random.chance(0.1) ? 3 : random.below(2) },
    () => `key${random.below(200)}`,
  )
  return {
    id: random.chance(0.05) ? `crlse_of another ${made}` : holdId(companyId, 'bcrd_1', made),
    kind: random.pick(['lease', 'reservation'] as const),
    granted: amount(),
    tracked: amount(),
    createdAtMs: atMs - random.below(1_000),
    expiresAtMs: atMs + random.below(1_000),
    releasedAtMs: atMs,
    keys,
  }
}

function withOne({ list, model }: Pair, hold: ClosedHold, sinceMs: number): Pair {
  const kept = model.slice(Math.max(0, model.length + 1 - most))
  while (kept.length > 0 && kept[0]!.releasedAtMs < sinceMs) kept.shift()
  return { list: list.with(companyId, hold, most, sinceMs), model: [...kept, hold] }
}

const isKept = ({ list, model }: Pair) =>
  list.length === model.length && JSON.stringify([...list], text) === JSON.stringify(model, text)
const text = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)

t.test('CR-75, CR-80 a list holds what was added, and lists that begin with the same stay apart', async t => {
  for (let run = 0; run < times(6); run++) {
    let pairs: Pair[] = [{ list: ClosedHolds.none, model: [] }]
    let atMs = 1_700_000_000_000
    for (let step = 0; step < 500; step++) {
      atMs += random.below(100)
      const from = random.chance(0.9) ? pairs.at(-1)! : random.pick(pairs)
      const one = withOne(from, newHold(atMs), random.chance(0.02) ? atMs - random.below(2_000) : 0)
      pairs = [...pairs.slice(-4), one]
      if (!isKept(one) || !isKept(from)) return t.fail(`run ${run}, step ${step}`)
      const { list, model } = random.pick(pairs)
      const wanted = random.pick(model.length > 0 ? model : [newHold(atMs)])
      const kind = random.pick(['lease', 'reservation'] as const)
      t.same(
        list.withId(wanted.id),
        model.find(({ id }) => id === wanted.id),
      )
      t.same(
        list.withId(wanted.id, kind),
        model.find(({ id, kind: own }) => id === wanted.id && own === kind),
      )
      const key = `key${random.below(200)}`
      const found = model.filter(({ keys, kind: own }) => own === kind && keys.includes(key))
      t.same([...list.allWithKey(key, kind)], found)
      t.same(list.withKey(key, kind), found[0])
    }
    for (const pair of pairs) t.ok(isKept(pair), `run ${run}: older lists are what they were`)
    const last = pairs.at(-1)!
    t.ok(isKept({ list: ClosedHolds.of(companyId, last.model), model: last.model }))
    t.ok(
      isKept({ list: ClosedHolds.of('comp_another12345', last.model), model: last.model }),
      'ids of another',
    )
  }
})
