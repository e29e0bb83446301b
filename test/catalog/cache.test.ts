import type { Sql } from 'postgres'
import t from 'tap'
import { bootstrap } from '../../src/account/bootstrap.js'
import { newId } from '../../src/account/ids.js'
import type { Announce } from '../../src/catalog/announce.js'
import { CatalogCache } from '../../src/catalog/cache.js'
import { TraitRegistry, type TraitRow, traitId } from '../../src/catalog/traits.js'
import type { CatalogData } from '../../src/core/model/definitions.js'
import { ServiceError } from '../../src/errors.js'
import { silent, startStores } from '../stores.js'

t.test('catalogs over a real Postgres', async t => {
  const { sql, dataDir } = await startStores(t)
  const { accountId } = await bootstrap(sql, { dataDir, bootstrapKey: null, pepper: null, membersFile: null })
  const rows = await sql<{ id: string }[]>`select id from environments order by created_at`
  const [development, production] = rows.map(row => row.id) as [string, string]
  const everywhere = { accountId, environmentId: null }

  async function open(announce: Announce, patienceMs = 5_000) {
    const traits = new TraitRegistry()
    await traits.load(sql)
    const catalogs = new CatalogCache({ sql, log: silent, traits, announce, patienceMs })
    t.teardown(() => catalogs.close())
    await catalogs.start()
    return { catalogs, traits }
  }
  const addFlag = (key: string) => (tx: Sql) =>
    tx`insert into flags ${tx({
      id: newId('flag_'),
      account_id: accountId,
      key,
      name: key,
      description: '',
      default_value: false,
      created_at: new Date(),
      updated_at: new Date(),
    })}`
  const keysOf = (data: CatalogData) => data.flags.map(flag => flag.key)
  const versionOf = async (id: string) => {
    const [row] = await sql<{ v: string }[]>`select catalog_version as v from environments where id = ${id}`
    return Number(row!.v)
  }

  await t.test('a change is with every shard before its caller is answered', async t => {
    const handed: CatalogData[] = []
    let done = 0
    const { catalogs } = await open(async data => {
      handed.push(data)
      await new Promise(resolve => setTimeout(resolve, 20))
      done++
    })
    handed.length = 0
    done = 0
    const answering = async (tx: Sql) => {
      await addFlag('first')(tx)
      return 'answer'
    }
    const before = catalogs.get(development).version
    t.equal(await catalogs.change(everywhere, answering), 'answer')
    t.equal(done, 2, 'both environments of the account')
    t.same(handed.map(data => data.environmentId).sort(), [development, production].sort())
    t.ok(handed.every(data => keysOf(data).includes('first')))
    t.equal(catalogs.get(development).version, before + 1)
    t.equal(await versionOf(development), before + 1)

    handed.length = 0
    await catalogs.change({ accountId, environmentId: production }, async () => {})
    t.same(
      handed.map(data => data.environmentId),
      [production],
      'one environment only',
    )
    t.throws(() => catalogs.get('env_unknown'), { code: 'not_found' })
  })

  await t.test('a change that fails leaves nothing behind', async t => {
    const { catalogs } = await open(async () => {})
    const before = await versionOf(development)
    const failing = catalogs.change(everywhere, async tx => {
      await addFlag('never')(tx)
      throw new ServiceError('value_invalid', 'no')
    })
    await t.rejects(failing, { code: 'value_invalid', message: 'no' })
    await t.rejects(catalogs.change(everywhere, addFlag('first')), { status: 400, message: /key/ })
    t.equal(await versionOf(development), before)
    t.notOk(keysOf(catalogs.get(development)).includes('never'))
  })

  await t.test('concurrent changes, also of two processes, are all applied in one order', async t => {
    const seen: CatalogData[] = []
    const one = await open(async data => {
      if (data.environmentId === development) seen.push(data)
    })
    const two = await open(async () => {})
    await sql`create table counted (n integer)`
    await sql`insert into counted values (0)`
    // Reading and writing in two statements loses updates unless the changes take turns.
    const count = async (tx: Sql) => {
      const [row] = await tx<{ n: number }[]>`select n from counted`
      await new Promise(resolve => setTimeout(resolve, 2))
      await tx`update counted set n = ${row!.n + 1}`
    }
    const scopes = [everywhere, { accountId, environmentId: development }]
    const changes = Array.from({ length: 40 }, (_, i) => {
      const { catalogs } = i % 2 === 0 ? one : two
      return catalogs.change(scopes[i % 3 === 0 ? 1 : 0]!, count)
    })
    await Promise.all(changes)
    const [row] = await sql<{ n: number }[]>`select n from counted`
    t.equal(row!.n, 40)
    const versions = seen.map(data => data.version)
    t.same(
      versions,
      [...versions].sort((a, b) => a - b),
      'versions are announced in order',
    )
    t.ok(one.catalogs.get(development).version >= (await versionOf(development)) - 40)
  })

  await t.test('security 5: environments take turns: one change waits for no queue of another', async t => {
    const { catalogs } = await open(async () => {})
    const done: string[] = []
    const change = (environmentId: string, name: string) =>
      catalogs.change({ accountId, environmentId: null, group: environmentId }, async tx => {
        await tx`select 1`
        done.push(name)
      })
    const theirs = Array.from({ length: 20 }, (_, n) => change(development, `theirs ${n}`))
    const ours = [change(production, 'ours 0'), change(production, 'ours 1')]
    await Promise.all(ours)
    await Promise.all(theirs)
    t.ok(done.indexOf('ours 1') < 5, done.join(', '))
    t.same(
      done.filter(name => name.startsWith('theirs')),
      Array.from({ length: 20 }, (_, n) => `theirs ${n}`),
      'those of one environment in their order',
    )
  })

  await t.test('an announcement that fails is repeated: the change is not lost', async t => {
    let failures = 3
    const handed: CatalogData[] = []
    const { catalogs } = await open(async data => {
      if (data.environmentId === development && keysOf(data).includes('stubborn') && failures-- > 0)
        throw new Error('a shard is away')
      handed.push(data)
    })
    await catalogs.change(everywhere, addFlag('stubborn'))
    t.ok(handed.some(data => data.environmentId === development && keysOf(data).includes('stubborn')))
    t.equal(failures, -1)
  })

  await t.test('a caller that waits too long gets an error, and the change goes on', async t => {
    let open_: () => void = () => {}
    const gate = new Promise<void>(resolve => {
      open_ = resolve
    })
    let blocking = false
    const { catalogs } = await open(async () => {
      if (blocking) await gate
    }, 100)
    blocking = true
    await t.rejects(catalogs.change(everywhere, addFlag('late')), { code: 'overloaded', status: 503 })
    blocking = false
    open_()
    await catalogs.change(everywhere, addFlag('after'))
    t.match(keysOf(catalogs.get(development)), /late/)
  })

  await t.test('two changes while one is announced: one more announcement serves both', async t => {
    const handed: number[] = []
    let release: () => void = () => {}
    let gate = Promise.resolve()
    const { catalogs } = await open(async data => {
      if (data.environmentId === development) handed.push(data.version)
      await gate
    })
    handed.length = 0
    gate = new Promise<void>(resolve => {
      release = resolve
    })
    const scope = { accountId, environmentId: development }
    const start = catalogs.get(development).version
    const first = catalogs.change(scope, async () => {})
    while (handed.length === 0) await new Promise(resolve => setTimeout(resolve, 5))
    const others = [catalogs.change(scope, async () => {}), catalogs.change(scope, async () => {})]
    while ((await versionOf(development)) < start + 3) await new Promise(resolve => setTimeout(resolve, 5))
    release()
    await Promise.all([first, ...others])
    t.same(handed, [start + 1, start + 3])
  })

  await t.test('CU-30 traits seen before the announcement are in it, whatever Postgres shows', async t => {
    const handed: CatalogData[] = []
    const { catalogs, traits } = await open(async data => void handed.push(data))
    const { trait, fresh } = traits.introduce(
      development,
      'company',
      'plan.seats',
      ['plan', 'seats'],
      'number',
    )
    t.equal(fresh, true)
    t.equal(traits.introduce(development, 'company', 'plan.seats', ['plan', 'seats'], 'string').trait, trait)
    t.not(
      traits.introduce(production, 'company', 'plan.seats', ['plan', 'seats'], 'string').trait.id,
      trait.id,
    )
    t.not(traits.introduce(development, 'user', 'plan.seats', ['plan', 'seats'], 'string').trait.id, trait.id)
    await catalogs.change({ accountId, environmentId: development }, async () => {})
    t.match(
      handed.at(-1)!.traits.find(each => each.id === trait.id),
      { name: 'plan.seats', traitType: 'number' },
    )

    const row: TraitRow = {
      id: traitId(development, 'company', 'plan.seats'),
      environment_id: development,
      entity_type: 'company',
      name: 'plan.seats',
      hierarchy: ['plan', 'seats'],
      trait_type: 'currency',
      publishable_writes: false,
    }
    const retype = (tx: Sql) =>
      tx`insert into trait_definitions ${tx({ ...row, hierarchy: tx.json([...row.hierarchy]), created_at: new Date(), updated_at: new Date() })}`
    await catalogs.change({ accountId, environmentId: development }, retype)
    t.match(
      catalogs.get(development).traits.find(each => each.id === row.id),
      { traitType: 'currency' },
    )
    t.equal(traits.byId(development, row.id)!.traitType, 'currency', 'an administrator changed it')
  })

  await t.test('the names of an environment are bounded', async t => {
    const traits = new TraitRegistry()
    for (let i = 0; i < 10_000; i++) traits.introduce('env_1', 'company', `t${i}`, [`t${i}`], 'string')
    t.throws(() => traits.introduce('env_1', 'company', 'one more', ['one more'], 'string'), {
      code: 'value_invalid',
    })
    t.equal(traits.introduce('env_1', 'company', 't5', ['t5'], 'number').fresh, false)
    t.equal(traits.introduce('env_1', 'user', 'one more', ['one more'], 'string').fresh, true)
    t.equal(traits.list('env_1').length, 10_001)
    t.equal(traits.list('env_1'), traits.list('env_1'), 'the same array until one changes')
  })

  await t.test('a deleted environment is forgotten, and no caller waits for it', async t => {
    const { catalogs } = await open(async () => {})
    await sql`insert into environments ${sql({ id: 'env_gone', account_id: accountId, name: 'g', environment_type: 'staging', created_at: new Date(), updated_at: new Date() })}`
    await catalogs.heard('env_gone', 1)
    t.equal(catalogs.get('env_gone').environmentType, 'staging')
    await sql`delete from environments where id = 'env_gone'`
    await catalogs.heard('env_gone', 2)
    t.throws(() => catalogs.get('env_gone'), { code: 'not_found' })
    await catalogs.heard(development, catalogs.get(development).version + 100)
    t.pass('a version that was never committed keeps nobody waiting')
  })
})
