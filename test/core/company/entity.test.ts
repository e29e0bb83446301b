// Common parts of companies and users: keys, traits, names, times; and a user's memberships.
import t from 'tap'
import { newCompany } from '../../../src/core/company/company.js'
import {
  applyToEntity,
  decideEnsure,
  decideWrite,
  incremented,
  keyPairs,
  remaps,
} from '../../../src/core/company/entity.js'
import { decodeCompany, decodeUser, encodeCompany, encodeUser } from '../../../src/core/company/state.js'
import { applyToUser, decideUser, newUser } from '../../../src/core/company/user.js'
import type { Entity, User } from '../../../src/core/model/entity-state.js'
import type { Effect, EntityWrite, UserMessage } from '../../../src/core/model/message.js'
import { SnapshotReader, snapshotText } from '../../../src/journal/records/snapshot-text.js'

const nobody = (): User => newUser('user_1', 'env_1')

const write = (some: Partial<EntityWrite> = {}): EntityWrite => ({
  addKeys: [],
  removeKeys: [],
  name: null,
  traits: [],
  introduces: [],
  lastSeenAtMs: null,
  atMs: 1,
  ...some,
})

/** An entity after these writes, each applied a millisecond after the other. */
function after(...writes: readonly Partial<EntityWrite>[]): Entity {
  const entity = nobody()
  writes.forEach((some, i) => void put(entity, { atMs: i + 1, ...some }, i + 1))
  return entity
}

function put(entity: Entity, some: Partial<EntityWrite>, nowMs: number, touches = true) {
  const decided = decideWrite(entity, write(some), nowMs, touches)
  if ('refused' in decided) return decided.refused
  for (const effect of decided.effects) applyToEntity(entity, effect, nowMs)
  return decided.reply
}

const keysOf = (entity: Entity) => Object.fromEntries(keyPairs(entity))
const traitsOf = (entity: Entity) =>
  Object.fromEntries([...entity.traits].map(([name, { value }]) => [name, value]))

t.test('CU-12, CU-15, CU-17 keys', async t => {
  const entity = nobody()
  t.equal(put(entity, {}, 1), 'no_key_given')
  t.same(
    put(
      entity,
      {
        addKeys: [
          ['a', '1'],
          ['b', '2'],
        ],
      },
      1,
    ),
    { created: true, freed: [] },
  )
  t.same(
    put(
      entity,
      {
        addKeys: [
          ['b', '3'],
          ['c', '4'],
        ],
      },
      2,
    ),
    { created: false, freed: [['b', '2']] },
  )
  t.same(keysOf(entity), { a: '1', b: '3', c: '4' })
  t.same(put(entity, { removeKeys: ['a', 'nope'] }, 3), { created: false, freed: [['a', '1']] })
  t.equal(put(entity, { removeKeys: ['b', 'c'] }, 4), 'no_key_left')
  t.same(keysOf(entity), { b: '3', c: '4' }, 'a refusal changes nothing')
  t.same(put(entity, { addKeys: [['d', '5']], removeKeys: ['b', 'c'] }, 5), {
    created: false,
    freed: [
      ['b', '3'],
      ['c', '4'],
    ],
  })
  t.same(keysOf(entity), { d: '5' }, 'removed after additions')
  const d = entity.keys.get('d')!
  put(entity, { addKeys: [['d', '6']] }, 9)
  t.same(entity.keys.get('d'), { value: '6', createdAtMs: d.createdAtMs, updatedAtMs: 9 })
})

t.test('CU-13 a remap is another value of a known name, and nothing else', async t => {
  const entity = after({ addKeys: [['a', '1']] })
  t.ok(remaps(entity, [['a', '2']]))
  t.notOk(
    remaps(entity, [
      ['a', '1'],
      ['b', '2'],
    ]),
  )
})

t.test('CU-16 names and times', async t => {
  const entity = after({
    addKeys: [
      ['a', 'first'],
      ['b', 'second'],
    ],
  })
  t.equal(entity.name, 'first')
  t.equal(after({ addKeys: [['a', 'x']], name: 'Given' }).name, 'Given')
  t.same([entity.createdAtMs, entity.updatedAtMs, entity.lastSeenAtMs], [1, 1, null])
  put(entity, {}, 5)
  t.equal(entity.updatedAtMs, 5, 'an upsert touches')
  put(entity, {}, 6, false)
  t.equal(entity.updatedAtMs, 5, 'an event that changes nothing does not')
  put(entity, { name: 'New', lastSeenAtMs: 100 }, 7)
  t.same([entity.name, entity.lastSeenAtMs], ['New', 100])
  put(entity, { lastSeenAtMs: 50 }, 8)
  t.equal(entity.lastSeenAtMs, 50, 'CU-46 as given, also back')
  applyToEntity(entity, { t: 'seen', atMs: 40 }, 9)
  t.equal(entity.lastSeenAtMs, 50, 'CU-46 events only forward')
  applyToEntity(entity, { t: 'seen', atMs: 60 }, 9)
  t.equal(entity.lastSeenAtMs, 60)
})

t.test('CU-30, CU-34 traits merge by name; null removes', async t => {
  const entity = after({
    addKeys: [['a', '1']],
    traits: [
      { name: 'x', value: '1' },
      { name: 'y', value: '' },
    ],
  })
  put(
    entity,
    {
      traits: [
        { name: 'x', value: '2' },
        { name: 'z', value: null },
      ],
      atMs: 5,
    },
    5,
  )
  t.same(traitsOf(entity), { x: '2', y: '' })
  t.same(entity.traits.get('x'), { value: '2', createdAtMs: 1, updatedAtMs: 5 })
  put(entity, { traits: [{ name: 'x', value: null }], atMs: 6 }, 6)
  t.same(traitsOf(entity), { y: '' })
})

t.test('EV-42 an older event does not overwrite, an upsert does', async t => {
  const entity = after({ addKeys: [['a', '1']], traits: [{ name: 'x', value: 'new' }], atMs: 100 })
  put(entity, { traits: [{ name: 'x', value: 'old' }], atMs: 50 }, 101, false)
  t.same(traitsOf(entity), { x: 'new' })
  put(entity, { traits: [{ name: 'x', value: 'same time' }], atMs: 100 }, 101, false)
  t.same(traitsOf(entity), { x: 'same time' })
  put(entity, { traits: [{ name: 'x', value: 'said' }], atMs: 50 }, 50)
  t.same(traitsOf(entity), { x: 'said' }, 'whatever the clock says')
})

t.test('CU-36 increments are exact', async t => {
  const having = (value: string) => after({ addKeys: [['a', '1']], traits: [{ name: 'x', value }] })
  const cases: [string, number, string | null][] = [
    ['5', 3, '8'],
    ['5', -8, '-3'],
    ['-0', 0, '0'],
    ['0.1', 7, '7.1'],
    ['1.005', 1, '2.005'],
    ['.5', 1, '1.5'],
    ['1e3', 1, '1001'],
    ['9007199254740993', 1, '9007199254740994'],
    ['1000000000000000000000', 1, '1000000000000000000001'],
    ['1e+21', 1, '1000000000000000000001'],
    [`1${'0'.repeat(300)}`, 7, `1${'0'.repeat(299)}7`],
    [`9${'9'.repeat(308)}`, 1, null],
    ['abc', 1, null],
    ['', 1, null],
    ['1e999', 1, null],
    ['0x10', 1, null],
    [' 5', 1, null],
  ]
  for (const [text, by, expected] of cases) t.equal(incremented(having(text), 'x', by), expected, text)
  t.equal(incremented(having('5'), 'absent', 2), '2')
  t.equal(incremented(nobody(), 'x', 2), '2', 'of an entity that is about to be made')
})

t.test('EV-34 ensuring an entity adds no keys to an existing one', async t => {
  const made = decideEnsure(nobody(), write({ addKeys: [['a', '1']] }), 1)
  t.match(made, { reply: { created: true, freed: [] } })
  const entity = after({ addKeys: [['a', '1']] })
  t.same(
    decideEnsure(
      entity,
      write({
        addKeys: [
          ['a', '1'],
          ['b', '2'],
        ],
      }),
      2,
    ),
    {
      effects: [],
      reply: { created: false, freed: [['b', '2']] },
    },
  )
})

t.test('CU-20, CU-40 memberships of a user', async t => {
  const user = nobody()
  const ask = (message: UserMessage, nowMs = 1) => {
    const decision = decideUser(user, message, nowMs)
    if ('refused' in decision) return decision.refused
    for (const effect of decision.effects) applyToUser(user, effect, nowMs)
    return { joined: decision.reply.joined, left: decision.reply.left }
  }
  const upsert = (some: Partial<Extract<UserMessage, { type: 'upsert' }>>): UserMessage => ({
    type: 'upsert',
    write: write({ addKeys: [['k', '1']] }),
    updateOnly: false,
    preventRemap: false,
    joins: [],
    exactly: null,
    ...some,
  })
  t.equal(ask(upsert({ updateOnly: true })), 'not_found')
  t.same(ask(upsert({ joins: ['c1', 'c1', 'c2'] }), 1), { joined: ['c1', 'c2'], left: [] })
  t.same(ask(upsert({}), 2), { joined: [], left: [] }, 'absent changes nothing')
  t.same(ask(upsert({ exactly: ['c2', 'c3'] }), 3), { joined: ['c3'], left: ['c1'] }, 'exhaustive')
  t.same(
    [...user.memberships],
    [
      ['c2', 1],
      ['c3', 3],
    ],
    'who stays keeps the time of joining',
  )
  t.same(ask(upsert({ exactly: [] }), 4), { joined: [], left: ['c2', 'c3'] }, 'an empty list removes all')
  t.same(ask({ type: 'join', companyId: 'c1' }, 5), { joined: ['c1'], left: [] })
  t.same(ask({ type: 'join', companyId: 'c1' }, 6), { joined: [], left: [] }, 'CU-40 idempotent')
  t.same(ask({ type: 'leave', companyId: 'c1' }, 7), { joined: [], left: ['c1'] })
  t.equal(ask({ type: 'leave', companyId: 'c1' }, 8), 'not_found')
  ask({ type: 'join', companyId: 'c1' }, 9)
  const gone = decideUser(user, { type: 'delete' }, 10)
  t.match(gone, { reply: { freed: [['k', '1']] } })
  for (const effect of (gone as { effects: readonly Effect[] }).effects) applyToUser(user, effect, 10)
  t.same([user.exists, user.memberships.size, user.keys.size], [false, 0, 0], 'CU-52')
  t.same(decideUser(user, { type: 'delete' }, 11), { refused: 'not_found' })
  t.same(decideUser(user, { type: 'join', companyId: 'c1' }, 11), { refused: 'not_found' })
})

t.test('security 3 a trait set with a publishable key is kept apart, also in a snapshot', async t => {
  const user = newUser('user_1', 'env_1')
  const said = (value: string, client?: true) =>
    write({
      addKeys: [['mail', 'a']],
      traits: [client ? { name: 'tier', value, client } : { name: 'tier', value }],
    })
  const take = (given: EntityWrite, atMs: number) => {
    const decided = decideWrite(user, given, atMs, false)
    if ('refused' in decided) throw new Error(decided.refused)
    for (const effect of decided.effects) applyToEntity(user, effect, atMs)
    return decided.effects
  }
  t.match(take(said('enterprise', true), 1).at(-1), { t: 'client_trait', value: 'enterprise' })
  t.equal(user.traits.text('tier'), undefined, 'no decision sees it')
  t.same(take(said('enterprise', true), 2), [], 'said again, nothing changes')
  take(said('free'), 3)
  take(said('gold', true), 4)
  t.equal(user.traits.text('tier'), 'free', 'a server’s word stays')
  const snapshot = JSON.parse(JSON.stringify(encodeUser(user))) as ReturnType<typeof encodeUser>
  const again = decodeUser(snapshot)
  t.same([again.traits.text('tier'), again.clientTraits?.text('tier')], ['free', 'gold'])
  const company = newCompany('comp_1', 'env_1')
  company.exists = true
  applyToEntity(company, { t: 'client_trait', name: 'tier', value: 'gold', atMs: 1 }, 1)
  const bytes = Buffer.from(snapshotText(encodeCompany(company)))
  const read = decodeCompany(new SnapshotReader().read('c', bytes, 0, bytes.length))
  t.equal(read.clientTraits?.text('tier'), 'gold')
  t.equal(
    encodeUser(newUser('user_2', 'env_1')).clientTraits,
    undefined,
    'nothing more where nothing was said',
  )
})
