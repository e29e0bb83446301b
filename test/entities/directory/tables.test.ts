// The tables of the directory in shared memory: pairs and entities against maps, environments that go, facts that come early,
// and the keyed hash.
import t from 'tap'
import { derivedId, encodeId } from '../../../src/core/values/id.js'
import { Directory } from '../../../src/entities/directory/directory.js'
import { EntityTable } from '../../../src/entities/directory/entity-table.js'
import { EnvironmentNumbers } from '../../../src/entities/directory/environment-numbers.js'
import { NameReader, type NamesChunk } from '../../../src/entities/directory/name-reader.js'
import { PairIndex } from '../../../src/entities/directory/pair-index.js'
import { HashState, KeyedHash, newHashKey } from '../../../src/wire/shared/keyed-hash.js'
import { Random, seed, times } from '../../random.js'

const kinds = ['company', 'user'] as const
const prefix = { company: 'comp_', user: 'user_' } as const

t.test('pairs are a map by environment, kind, name and value, and names are counted', async t => {
  const random = new Random(seed)
  const index = new PairIndex(new EnvironmentNumbers())
  const model = new Map<string, string>()
  for (let step = 0; step < times(20_000); step++) {
    const environmentId = `env_${random.below(3)}`
    const kind = random.pick(kinds)
    const name = random.pick(['slug', 'mail', '', 'größe', '日本'])
    const value =
      random.pick(['', 'a', 'ab', 'abc', 'abcd', 'a\0', 'ÿ', 'Ā', '日本語', '💡']) + random.below(40)
    const key = [environmentId, kind, name, value].join('\n')
    if (random.chance(0.5)) {
      const id = encodeId(prefix[kind], random.below(2 ** 32), random.below(2 ** 32))
      index.set(kind, environmentId, name, value, id)
      model.set(key, id)
    } else if (random.chance(0.6)) {
      index.delete(kind, environmentId, name, value)
      model.delete(key)
    }
    if (step % 5_000 === 4_999) {
      const gone = `env_${random.below(3)}`
      index.forgetEnvironment(gone)
      for (const one of model.keys()) if (one.startsWith(`${gone}\n`)) model.delete(one)
    }
    if (index.get(kind, environmentId, name, value) !== model.get(key))
      return t.fail(`seed ${seed}: ${JSON.stringify(key)} at step ${step}`)
    if (index.size !== model.size) return t.fail(`seed ${seed}: ${index.size} pairs, not ${model.size}`)
  }
  for (const [key, id] of model) {
    const [environmentId, kind, name, value] = key.split('\n') as [string, 'company' | 'user', string, string]
    if (index.get(kind, environmentId, name, value) !== id) return t.fail(`seed ${seed}: ${key}`)
  }
  for (const environmentId of ['env_0', 'env_1', 'env_2'])
    for (const kind of kinds) {
      const names = [...model.keys()].filter(key => key.startsWith(`${environmentId}\n${kind}\n`))
      t.equal(index.names(kind, environmentId), new Set(names.map(key => key.split('\n')[2])).size)
    }
})

t.test('an id that is none owns no pair and is no entity', async t => {
  const directory = new Directory()
  for (const id of ['comp_1', 'comp_0000000000O', 'plan_23456789ABC', 'comp_zzzzzzzzzzz', ''])
    t.throws(() => directory.load('env', id), /id/, id)
  t.throws(() => directory.loadPair('company', 'env', 'user_23456789ABC', 'a', '1'), /id/, 'of another kind')
  t.notOk(directory.has('env', 'comp_zzzzzzzzzzz'))
  t.equal(directory.size, 0)
})

t.test('the same 64 bits are a company and a user, each of its own environment', async t => {
  const table = new EntityTable(new EnvironmentNumbers())
  const [company, user] = [encodeId('comp_', 7, 9), encodeId('user_', 7, 9)]
  table.add('a', company)
  table.add('b', user)
  table.add('a', company)
  t.strictSame(
    [table.countOf('a'), table.countOf('b')],
    [
      { entities: 1, users: 0 },
      { entities: 1, users: 1 },
    ],
  )
  t.ok(table.has('a', company) && table.has('b', user))
  t.notOk(table.has('b', company) || table.has('a', user) || table.has('c', user))
  table.remove('b', company)
  t.ok(table.has('a', company), 'an entity is removed in its own environment alone')
  t.strictSame(table.idsOf('b'), [user])
  table.remove('b', user)
  t.equal(table.size, 1)
})

t.test('memberships: none, one, several, in their order; a company counts its users', async t => {
  const directory = new Directory()
  const random = new Random(seed)
  const users = Array.from({ length: 20 }, (_, i) => derivedId('user_', i))
  const companies = Array.from({ length: 6 }, (_, i) => derivedId('comp_', i))
  for (const id of [...users, ...companies]) directory.load('env', id)
  const model = new Map(users.map(user => [user, [] as string[]]))
  for (let step = 0; step < times(3_000); step++) {
    const [user, company] = [random.pick(users), random.pick(companies)]
    const held = model.get(user)!
    if (random.chance(0.5)) {
      directory.join(user, company)
      if (!held.includes(company)) held.push(company)
    } else {
      directory.leave(user, company)
      if (held.includes(company)) held.splice(held.indexOf(company), 1)
    }
    t.strictSame(directory.companiesOf('env', user), held)
    const members = users.filter(one => model.get(one)!.includes(company))
    if (directory.membersOf(company) !== members.length)
      return t.fail(`seed ${seed}: members at step ${step}`)
    if (directory.isMember(user, company) !== held.includes(company))
      return t.fail(`seed ${seed}: step ${step}`)
  }
  for (const user of users) directory.forget('env', user)
  for (const company of companies) t.equal(directory.membersOf(company), 0)
})

t.test('what facts say of entities that are not here yet holds when they come', async t => {
  const directory = new Directory()
  const [user, one, two] = [derivedId('user_', 'u'), derivedId('comp_', 1), derivedId('comp_', 2)]
  directory.join(user, one)
  directory.join(user, two)
  directory.leave(user, two)
  t.equal(directory.membersOf(one), 1)
  for (const id of [one, two, user]) directory.load('env', id)
  t.equal(directory.membersOf(one), 1)
  t.equal(directory.membersOf(two), 0)
  t.strictSame(directory.companiesOf('env', user), [one])
})

t.test('a deleted environment takes its entities and pairs along, and no others', async t => {
  const directory = new Directory()
  for (const environmentId of ['a', 'b'])
    for (let i = 0; i < 10_000; i++) {
      const id = derivedId('comp_', environmentId, i)
      directory.load(environmentId, id)
      directory.loadPair('company', environmentId, id, 'slug', `s${i}`)
    }
  directory.forgetEnvironment('a')
  t.equal(directory.size, 10_000)
  t.equal(directory.pairs.size, 10_000)
  t.equal(directory.countOf('company', 'a'), 0)
  t.equal(directory.find('company', 'a', 'slug', 's1'), null)
  for (let i = 0; i < 10_000; i++)
    if (directory.find('company', 'b', 'slug', `s${i}`) !== derivedId('comp_', 'b', i)) return t.fail(`s${i}`)
})

t.test('a thread that reads a directory before there is any company finds none', async t => {
  const directory = new Directory()
  const handed: NamesChunk[] = []
  directory.lend(chunk => void handed.push(chunk))
  const reader = new NameReader(directory.lent, () => handed.shift() ?? null)
  const where = { environmentId: 'env', environment: directory.numberOf('env') }
  t.equal(reader.find('company', where, { slug: 'acme' }), null)
  const id = derivedId('comp_', 'env', 1)
  directory.load('env', id)
  directory.loadPair('company', 'env', id, 'slug', 'acme')
  directory.loadPair('company', 'env', id, 'id', 'c-1')
  t.equal(reader.find('company', where, { slug: 'acme' }), id)
  t.equal(reader.find('company', where, { id: 'c-1' }), id, 'a key may be named id')
  t.equal(reader.find('company', where, { id }), null, 'a service id is left to the main thread')
})

t.test('texts that differ in a unit, a length or a width have different hashes under any key', async t => {
  for (const root of [HashState.of([0, 0]), HashState.of(newHashKey())]) {
    const hash = new KeyedHash()
    const seen = new Map<string, string>()
    const texts = ['', '\0', '\0\0', 'a', 'a\0', 'aĀ', 'aa', 'ÿ', 'Ā', 'abcd', 'abcde', '\u6100', 'a\u6200']
    for (let i = 0; i < 3_000; i++) texts.push(`company-${i}`, `${i}日`)
    for (const text of texts) {
      hash.hash(root, text)
      const words = [hash.first, hash.second, hash.third].join()
      if (seen.has(words)) return t.fail(`${JSON.stringify(text)} and ${JSON.stringify(seen.get(words))}`)
      seen.set(words, text)
    }
    const ofName = hash.after(root, 'ab')
    hash.hash(ofName, 'c')
    const split = hash.first
    hash.hash(hash.after(root, 'a'), 'bc')
    t.not(hash.first, split, 'where one text ends and the next begins counts')
  }
})
