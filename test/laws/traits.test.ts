// F4, EV-42: of all writes of a trait, whatever their order, the one with the latest time counts, removals included; and
// a snapshot taken between any two of them changes nothing.
import t from 'tap'
import { applyToEntity, decideWrite } from '../../src/core/company/entity.js'
import { removedTraitsMax } from '../../src/core/company/entity-bounds.js'
import { decodeUser, encodeUser } from '../../src/core/company/state.js'
import { newUser } from '../../src/core/company/user.js'
import type { User } from '../../src/core/model/entity-state.js'
import type { EntityWrite } from '../../src/core/model/message.js'
import { SnapshotReader, snapshotText } from '../../src/journal/records/snapshot-text.js'
import { Random, times } from '../random.js'

const names = ['tier', 'seats', 'region']

const writeOf = (traits: EntityWrite['traits'], atMs: number): EntityWrite => ({
  addKeys: [['id', 'a']],
  removeKeys: [],
  name: null,
  traits,
  introduces: [],
  lastSeenAtMs: null,
  atMs,
})

function put(user: User, write: EntityWrite, nowMs: number, touches = false): void {
  const decided = decideWrite(user, write, nowMs, touches)
  if ('refused' in decided) throw new Error(decided.refused)
  for (const effect of decided.effects) applyToEntity(user, effect, nowMs)
}

function restored(user: User): User {
  const bytes = Buffer.from(snapshotText(encodeUser(user)))
  return decodeUser(new SnapshotReader().read('u', bytes, 0, bytes.length))
}

t.test('F4 the latest write of each trait counts', async t => {
  const random = new Random()
  t.comment(`TOLLGATE_SEED=${random.seed}`)
  for (let run = 0; run < times(2_000); run++) {
    let user = newUser('user_1', 'env_1')
    const latest = new Map<string, { value: string | null; atMs: number }>()
    const history: unknown[] = []
    put(user, writeOf([], 0), 0)
    for (let step = 1; step <= 12; step++) {
      const atMs = random.below(20)
      const given = names.filter(() => random.chance(0.6))
      const traits = given.map(name => ({ name, value: random.pick([null, null, 'a', 'b']) }))
      history.push({ atMs, traits })
      put(user, writeOf(traits, atMs), step)
      for (const { name, value } of traits)
        if ((latest.get(name)?.atMs ?? -1) <= atMs) latest.set(name, { value, atMs })
      if (random.chance(0.2)) user = restored(user)
      for (const name of names) {
        const wanted = latest.get(name)?.value ?? null
        if ((user.traits.text(name) ?? null) !== wanted) {
          t.equal(user.traits.text(name) ?? null, wanted, JSON.stringify({ name, history }))
          return
        }
      }
    }
  }
})

t.test('F4 an upsert counts as of now, and a removal by it holds as well', async t => {
  const user = newUser('user_1', 'env_1')
  put(user, writeOf([{ name: 'tier', value: 'gold' }], 10), 10, true)
  put(user, writeOf([{ name: 'tier', value: null }], 20), 20, true)
  put(user, writeOf([{ name: 'tier', value: 'back' }], 15), 21)
  t.equal(user.traits.text('tier'), undefined)
  put(user, writeOf([{ name: 'tier', value: 'new' }], 22), 22, true)
  t.equal(user.traits.text('tier'), 'new')
  t.equal(encodeUser(user).removedTraits, undefined, 'nothing is remembered of a trait that is there')
})

t.test('F4 the times of as many removals are kept as an entity may have traits', async t => {
  const user = newUser('user_1', 'env_1')
  put(user, writeOf([], 0), 0)
  for (let i = 0; i <= removedTraitsMax; i++)
    put(user, writeOf([{ name: `t${i}`, value: null }], 100 + i), 100 + i)
  t.equal(user.removedTraits?.size, removedTraitsMax)
  put(user, writeOf([{ name: 't1', value: 'late' }], 50), 5_000)
  t.equal(user.traits.text('t1'), undefined)
  put(user, writeOf([{ name: 't0', value: 'late' }], 50), 5_000)
  t.equal(user.traits.text('t0'), 'late', 'the oldest is forgotten')
})
