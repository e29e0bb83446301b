// Publishable keys use up a part of each quota only; servers have the rest (security H4, M3).
import t from 'tap'
import { TraitRegistry } from '../../../src/catalog/traits.js'
import type { Directory } from '../../../src/entities/directory/directory.js'
import { Quotas } from '../../../src/entities/directory/quotas.js'

/** A directory with this many companies, users and key names. */
const filled = (count: number) =>
  ({ countOf: () => count, keyNames: () => count, hasKeyName: () => false }) as unknown as Directory
const settings = { companiesMax: 40, usersMax: 80, keyNamesMax: 8, eventNamesMax: 12 }
const quotasOf = (count: number) => new Quotas(filled(count), settings)

t.test('H4 companies and users: three quarters', async t => {
  for (const [kind, max] of [['company', 40] as const, ['user', 80] as const]) {
    const part = (max * 3) / 4
    t.equal(quotasOf(part - 1).refusal(kind, 'e', true, [], true), null, kind)
    t.match(quotasOf(part).refusal(kind, 'e', true, [], true), /as many as it may by publishable keys/)
    t.equal(quotasOf(part).refusal(kind, 'e', true, []), null, `${kind}: servers have room`)
    t.match(quotasOf(max).refusal(kind, 'e', true, []), /as many as it may,/)
    t.equal(quotasOf(max).refusal(kind, 'e', false, [], true), null, 'what exists may be written')
  }
})

t.test('M3 key names: three quarters', async t => {
  t.equal(quotasOf(5).refusal('user', 'e', false, [['k', 'v']], true), null)
  t.match(quotasOf(6).refusal('user', 'e', false, [['k', 'v']], true), /names of keys/)
  t.equal(quotasOf(6).refusal('user', 'e', false, [['k', 'v']]), null)
  t.equal(
    quotasOf(8).refusal('user', 'e', false, [['id', 'v']], true),
    null,
    'the reserved name does not count',
  )
})

t.test('M3 event names that no definition counts: a quarter, and each once', async t => {
  const quotas = quotasOf(0)
  for (const name of ['a', 'b', 'c', 'a']) t.ok(quotas.takePublicName('e', name), name)
  t.notOk(quotas.takePublicName('e', 'd'))
  t.ok(quotas.takePublicName('e', 'b'), 'a known one stays')
  t.ok(quotas.takePublicName('other', 'd'), 'another environment has its own')
})

t.test('H4 users in an hour', async t => {
  const quotas = quotasOf(0)
  for (let n = 0; n < 10; n++) t.ok(quotas.takePublicUser('e', 10, 0))
  t.notOk(quotas.takePublicUser('e', 10, 0))
  t.ok(quotas.takePublicUser('other', 10, 0))
  t.ok(quotas.takePublicUser('e', 10, 360_000), 'one more after a tenth of an hour')
  t.notOk(quotas.takePublicUser('e', 10, 360_000))
  t.notOk(quotas.takePublicUser('none', 0, 0), '0: none')
})

t.test('M3 names of traits: three quarters', async t => {
  const traits = new TraitRegistry()
  const introduce = (name: string, isPublic: boolean) =>
    traits.introduce('e', 'company', name, [name], 'string', isPublic)
  for (let n = 0; n < 7_500; n++) introduce(`t${n}`, true)
  t.throws(() => introduce('more', true), /at most/)
  t.notOk(introduce('t0', true).fresh, 'a known one may be written')
  for (let n = 7_500; n < 10_000; n++) introduce(`t${n}`, false)
  t.throws(() => introduce('more', false), /at most/)
})
