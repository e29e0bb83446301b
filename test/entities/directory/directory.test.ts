// Owner of a pair while writes are in flight, lost, refused or late.
import t from 'tap'
import type { Effect, Fact } from '../../../src/core/model/message.js'
import { derivedId } from '../../../src/core/values/id.js'
import { Directory, isServiceId } from '../../../src/entities/directory/directory.js'
import { sentKey } from '../../control/sent-key.js'

const env = 'env_1'
const comp = (name: string) => derivedId('comp_', name)
const user = (name: string) => derivedId('user_', name)
type Pairs = readonly (readonly [string, string])[]

/** A directory of companies in one environment. */
function house() {
  const directory = new Directory()
  return {
    directory,
    find: (keys: Record<string, string>) => directory.resolve('company', env, keys),
    owner: (name: string, value: string) => directory.resolve('company', env, { [name]: value }).found,
    claim: (id: string, pairs: Pairs) => directory.claim('company', env, id, pairs),
    confirm: (id: string, pairs: Pairs, freed: Pairs = []) =>
      directory.confirm('company', env, id, pairs, freed),
    release: (id: string, pairs: Pairs) => directory.release('company', env, id, pairs),
    /** A company that is durable. */
    settle(pairs: Pairs): string {
      const id = directory.mint('company', env)
      directory.claim('company', env, id, pairs)
      directory.confirm('company', env, id, pairs, [])
      return id
    },
  }
}

t.test(
  'CU-1, CU-3 any pair finds, two entities are ambiguous, kinds and environments are separate',
  async t => {
    const { directory, find, settle } = house()
    const one = settle([
      ['a', '1'],
      ['b', '2'],
    ])
    const two = settle([['a', '9']])
    t.same(find({ a: '1', z: '0' }), { found: one })
    t.same(find({ z: '0' }), { found: null, reason: 'unknown' })
    t.same(find({ b: '2', a: '9' }), { found: null, reason: 'ambiguous' })
    t.same(find({ A: '1' }), { found: null, reason: 'unknown' }, 'CU-2 case-sensitive')
    t.same(find({ b: '1' }), { found: null, reason: 'unknown' }, 'a value under another name')
    t.same(directory.resolve('user', env, { a: '1' }), { found: null, reason: 'unknown' })
    t.same(directory.resolve('company', 'env_2', { a: '1' }), { found: null, reason: 'unknown' })
    t.same(find({ __proto__: 'x', constructor: 'y' } as Record<string, string>), {
      found: null,
      reason: 'unknown',
    })
    t.ok(directory.has(env, two))
    t.notOk(directory.has('env_2', two))
  },
)

t.test('a key finds by its bytes whom it finds by its text', async t => {
  const { directory, settle } = house()
  const bytesOf = (name: string, value: string, kind: 'company' | 'user' = 'company') => {
    const { body, key } = sentKey(name, value)
    return directory.findSent(kind, env, body, key)
  }
  const one = settle([['a', '1']])
  for (let times = 0; times < 3; times++) {
    t.equal(bytesOf('a', '1'), one)
    t.equal(bytesOf('id', one), one, 'CU-2')
    t.equal(bytesOf('a', '2'), null)
    t.equal(bytesOf('a', '1', 'user'), null)
  }
  directory.load(env, comp('later'))
  t.equal(directory.loadPair('company', env, comp('later'), 'a', '1'), one)
  t.equal(bytesOf('a', '1'), comp('later'), 'what a store knows of later')
  directory.forget(env, comp('later'))
  t.equal(bytesOf('a', '1'), null)
})

t.test('CU-2 the reserved name id', async t => {
  const { directory, find, settle } = house()
  const one = settle([['id', 'mine']])
  t.same(find({ id: one }), { found: one })
  t.same(find({ id: 'mine' }), { found: one }, 'an ordinary key without the prefix')
  t.same(find({ id: 'comp_22222222222' }), { found: null, reason: 'unknown_id' })
  t.same(directory.resolve('company', 'env_2', { id: one }), { found: null, reason: 'unknown_id' })
  const two = settle([['a', '1']])
  t.same(find({ id: one, a: '1' }), { found: null, reason: 'ambiguous' })
  t.ok(isServiceId('user', 'id', 'user_x'))
  t.notOk(isServiceId('user', 'id', 'comp_x'))
  t.notOk(isServiceId('company', 'key', two))
})

t.test('CU-19 a claim counts at once and goes with the last write that holds on to it', async t => {
  const { directory, owner, claim, confirm, release } = house()
  const id = directory.mint('company', env)
  t.ok(directory.isUnconfirmed(id))
  claim(id, [['a', '1']])
  t.equal(owner('a', '1'), id, 'a second request meets the same id')
  claim(id, [
    ['a', '1'],
    ['b', '2'],
  ])
  release(id, [['a', '1']])
  t.equal(owner('a', '1'), id, 'the second still holds on')
  t.ok(directory.has(env, id))
  release(id, [
    ['a', '1'],
    ['b', '2'],
  ])
  t.equal(owner('a', '1'), null)
  t.equal(owner('b', '2'), null)
  t.notOk(directory.has(env, id), 'nobody made it')

  const again = directory.mint('company', env)
  claim(again, [['a', '1']])
  claim(again, [['a', '1']])
  confirm(again, [['a', '1']])
  t.notOk(directory.isUnconfirmed(again))
  release(again, [['a', '1']])
  t.equal(owner('a', '1'), again, 'a durable pair stays when a later write is refused')
  t.ok(directory.has(env, again))
  t.throws(() => claim(id, [['a', '1']]), /belongs to another/)
})

t.test('CU-12 a pair given up and taken back at once is kept, in whatever order answers overlap', async t => {
  const { directory, owner, claim, confirm, release, settle } = house()
  const id = settle([['a', '0']])
  // one write re-maps a to 1, the next, sent before the first was answered, back to 0
  claim(id, [['a', '1']])
  claim(id, [['a', '0']])
  confirm(id, [['a', '1']], [['a', '0']])
  t.equal(owner('a', '0'), id, 'held for the second write')
  confirm(id, [['a', '0']], [['a', '1']])
  t.equal(owner('a', '0'), id)
  t.equal(owner('a', '1'), null)
  // the same, but the second is refused: then the pair is free
  claim(id, [['a', '1']])
  claim(id, [['a', '0']])
  confirm(id, [['a', '1']], [['a', '0']])
  release(id, [['a', '0']])
  t.equal(owner('a', '0'), null)
  t.equal(owner('a', '1'), id)
  // pairs that an existing company does not take (EV-34) are free again
  claim(id, [['b', '2']])
  confirm(id, [['b', '2']], [['b', '2']])
  t.equal(owner('b', '2'), null)
  t.equal(directory.size, 1)
})

t.test('CU-50 who is being deleted is found no more, and its pairs may be claimed', async t => {
  const { directory, find, owner, claim, confirm, settle } = house()
  const id = settle([
    ['a', '1'],
    ['b', '2'],
  ])
  directory.join(user('1'), id)
  directory.retire('company', env, id)
  t.notOk(directory.has(env, id))
  t.same(find({ a: '1' }), { found: null, reason: 'unknown' })
  t.same(find({ id }), { found: null, reason: 'unknown_id' })
  t.same(directory.companiesOf(env, user('1')), [])
  const next = directory.mint('company', env)
  claim(next, [['a', '1']])
  t.equal(owner('a', '1'), next)
  directory.free('company', env, id, [
    ['a', '1'],
    ['b', '2'],
  ])
  directory.forget(env, id)
  confirm(next, [['a', '1']])
  t.equal(owner('a', '1'), next, 'what another took is not freed')
  t.equal(owner('b', '2'), null)
  t.equal(directory.size, 1)
})

t.test(
  'a write that was sent before a deletion is settled before it; one that came after makes it anew',
  async t => {
    const { directory, owner, claim, confirm, settle } = house()
    const id = settle([['a', '1']])
    claim(id, [['b', '2']])
    directory.retire('company', env, id)
    const next = directory.mint('company', env)
    claim(next, [['b', '2']])
    confirm(id, [['b', '2']])
    t.equal(owner('b', '2'), next, 'the older claim does not settle the newer')
    directory.free('company', env, id, [
      ['a', '1'],
      ['b', '2'],
    ])
    directory.forget(env, id)
    confirm(next, [['b', '2']])
    t.equal(owner('b', '2'), next)

    confirm(id, [['c', '3']])
    t.ok(directory.has(env, id), 'the actor has it, so it is known')
    t.equal(owner('c', '3'), id)
  },
)

t.test('EV-35, CU-50 memberships and their number', async t => {
  const { directory, settle } = house()
  const [one, two] = [settle([['a', '1']]), settle([['a', '2']])]
  t.same(directory.companiesOf(env, user('1')), [])
  directory.join(user('1'), one)
  directory.join(user('1'), one)
  t.same(directory.companiesOf(env, user('1')), [one])
  directory.join(user('1'), two)
  directory.join(user('1'), two)
  directory.join(user('2'), two)
  t.same(directory.companiesOf(env, user('1')), [one, two])
  t.equal(directory.membersOf(one), 1)
  t.equal(directory.membersOf(two), 2)
  t.ok(directory.isMember(user('1'), two))
  directory.leave(user('1'), one)
  directory.leave(user('1'), one)
  t.same(directory.companiesOf(env, user('1')), [two])
  t.equal(directory.membersOf(one), 0)
  directory.forget(env, user('2'))
  t.equal(directory.membersOf(two), 1, 'a user takes its memberships along')
  directory.forget(env, two)
  t.same(directory.companiesOf(env, user('1')), [], 'so does a company')
  t.equal(directory.membersOf(two), 0)
  directory.leave(user('1'), two)
  t.equal(directory.membersOf(two), 0)
})

t.test('facts that a shard found in its journal are applied again; twice equals once', async t => {
  const { directory, owner } = house()
  const fact = (fx: Fact['fx'], over: Partial<Fact> = {}): Fact => ({
    k: 'c',
    id: comp('1'),
    env,
    at: 1,
    fx,
    ...over,
  })
  const made = fact([
    { t: 'created', name: 'x', atMs: 1 },
    { t: 'key', name: 'a', value: '1', was: null },
    { t: 'key', name: 'b', value: '2', was: null },
  ])
  const changed = fact([
    { t: 'key', name: 'a', value: '3', was: '1' },
    { t: 'key_removed', name: 'b', value: '2' },
  ])
  const joined = fact([{ t: 'joined', companyId: comp('1') }], { k: 'u', id: user('1') })
  for (const one of [made, changed, joined, joined]) directory.replay(one)
  t.equal(owner('a', '3'), comp('1'))
  t.equal(owner('a', '1'), null)
  t.equal(owner('b', '2'), null)
  t.equal(directory.membersOf(comp('1')), 1)
  directory.replay(fact([{ t: 'left', companyId: comp('1') }], { k: 'u', id: user('1') }))
  t.equal(directory.membersOf(comp('1')), 0)
  directory.replay(fact([{ t: 'deleted', keys: [['a', '3']] }]))
  t.equal(owner('a', '3'), null)
  t.notOk(directory.has(env, comp('1')))
  directory.replay(fact([{ t: 'created', name: 'x', atMs: 1 }], { k: 'e' }))
  t.equal(directory.size, 0)
})

t.test('AL-13 an environment goes with all that is in it', async t => {
  const { directory, owner, settle } = house()
  settle([['a', '1']])
  directory.load('env_2', comp('2'))
  directory.loadPair('company', 'env_2', comp('2'), 'a', '1')
  directory.forgetEnvironment(env)
  t.equal(owner('a', '1'), null)
  t.same(directory.resolve('company', 'env_2', { a: '1' }), { found: comp('2') })
  t.equal(directory.size, 1)
})

/** The fact that another node, or a restarted shard, tells of a company. */
const factOf = (id: string, fx: readonly Effect[]): Fact => ({ k: 'c', id, env, at: 1, fx })
const given = (name: string, value: string) => ({ t: 'key', name, value, was: null }) as const
const removed = (name: string, value: string) => ({ t: 'key_removed', name, value }) as const
const created = { t: 'created', name: 'a', atMs: 1 } as const

t.test('CU-19 a pair that another node gave away while a write here claims it', async t => {
  for (const way of ['the write fails', 'the write is durable'] as const) {
    const { directory, owner, claim, release, confirm } = house()
    const here = directory.mint('company', env)
    claim(here, [['a', '1']])
    directory.replay(factOf(comp('there'), [created, given('a', '1')]))
    t.equal(owner('a', '1'), here, 'until the write here is settled')
    if (way === 'the write fails') {
      release(here, [['a', '1']])
      t.equal(owner('a', '1'), comp('there'))
    } else {
      confirm(here, [['a', '1']], [])
      t.equal(owner('a', '1'), here)
      directory.replay(factOf(here, [removed('a', '1')]))
      t.equal(owner('a', '1'), comp('there'))
    }
    directory.replay(factOf(comp('there'), [removed('a', '1')]))
    t.equal(owner('a', '1'), null)
  }
})

t.test('CU-19 facts of two shards in either order give a pair to its last owner', async t => {
  const facts = {
    gives: (id: string) => factOf(id, [removed('a', '1')]),
    takes: factOf(comp('next'), [created, given('a', '1')]),
  }
  for (const order of [
    ['gives', 'takes'],
    ['takes', 'gives'],
  ] as const) {
    const { directory, owner, settle } = house()
    const first = settle([['a', '1']])
    const epoch = directory.keyEpoch
    for (const name of order) directory.replay(name === 'gives' ? facts.gives(first) : facts.takes)
    t.equal(owner('a', '1'), comp('next'), order.join())
    t.not(directory.keyEpoch, epoch, 'caches look again')
  }
})

t.test(
  'CU-50 a pair of a company whose deletion is under way here, which another node gave away',
  async t => {
    const { directory, owner, settle, claim, release } = house()
    const former = settle([['a', '1']])
    directory.retire('company', env, former)
    directory.replay(factOf(comp('next'), [created, given('a', '1')]))
    const here = directory.mint('company', env)
    claim(here, [['a', '1']])
    t.same(directory.awaited(here), [former])
    release(here, [['a', '1']])
    directory.free('company', env, former, [['a', '1']])
    directory.forget(env, former)
    t.equal(owner('a', '1'), comp('next'))
  },
)

t.test('an owner by an early fact that gave the pair up before its turn does not get it', async t => {
  const { directory, owner, settle } = house()
  const first = settle([['a', '1']])
  directory.replay(factOf(comp('next'), [created, given('a', '1'), removed('a', '1')]))
  directory.replay(factOf(first, [removed('a', '1')]))
  t.equal(owner('a', '1'), null)
})
