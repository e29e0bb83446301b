// The runner of migrations with a real Postgres and companies that are slow to answer: nothing is lost by a stop, nobody
// is moved twice, who cannot be reached is asked again.

import type { Sql } from 'postgres'
import t from 'tap'
import { Migrations, type MigrationsOptions } from '../../../src/control/migrations/migrations.js'
import { abandonMigrations, callOffOlder, insertMigration } from '../../../src/control/migrations/rows.js'
import type { CompanyMessage } from '../../../src/core/model/message.js'
import type { MigrationReply } from '../../../src/core/model/plan-messages.js'
import { Refused } from '../../../src/entities/shards/shards.js'
import { ServiceError } from '../../../src/errors.js'
import { silent, startStores } from '../../stores.js'

const env = 'env_1'
const now = new Date('2026-03-01T00:00:00Z')

async function definitions(sql: Sql): Promise<void> {
  const times = { created_at: now, updated_at: now }
  await sql`insert into accounts ${sql({ id: 'acct_1', name: 'a', ...times })}`
  await sql`insert into environments ${sql({ id: env, account_id: 'acct_1', name: 'e', environment_type: 'development', ...times })}`
  await sql`insert into plans ${sql({ id: 'plan_1', account_id: 'acct_1', plan_type: 'plan', name: 'P', icon: 'gray', ...times })}`
  const price = (id: string) => [{ id, currency: 'usd', cadence: 'monthly' }]
  for (const [version, status] of [
    [1, 'archived'],
    [2, 'published'],
  ] as const)
    await sql`
      insert into plan_versions ${sql({
        id: `v${version}`,
        plan_id: 'plan_1',
        environment_id: env,
        version,
        status,
        name: 'P',
        icon: 'gray',
        prices: sql.json(price(`bilpp_${version}`)),
        ...times,
      })}`
}

async function onPlan(sql: Sql, companies: number): Promise<void> {
  await sql`truncate company_plans, plan_version_migrations cascade`
  await sql`
    insert into company_plans (company_id, plan_id, kind, environment_id, version_id, added_at)
    select 'comp_' || lpad(n::text, 6, '0'), 'plan_1', 'base', ${env}, 'v1', ${now} from generate_series(1, ${companies}) n`
}

type Answer = (companyId: string, message: CompanyMessage) => MigrationReply | Error | Promise<MigrationReply>

/** Companies that answer as told; what each was asked. */
function companies(answer: Answer): {
  shards: MigrationsOptions['shards']
  asked: [string, CompanyMessage][]
  most: () => number
} {
  const asked: [string, CompanyMessage][] = []
  let waiting = 0
  let most = 0
  const ask = async (_kind: string, _environment: string, id: string, message: CompanyMessage) => {
    asked.push([id, message])
    most = Math.max(most, ++waiting)
    await new Promise(resolve => setImmediate(resolve))
    waiting--
    const reply = await answer(id, message)
    if (reply instanceof Error) throw reply
    return { reply, shard: 0, sequence: 1 }
  }
  return { shards: { ask } as unknown as MigrationsOptions['shards'], asked, most: () => most }
}

const done: MigrationReply = { outcome: 'completed', fromVersionId: 'v1', effectiveAtMs: null }

t.test('migrations', async t => {
  const { sql } = await startStores(t)
  await definitions(sql)
  let clockMs = now.getTime()
  const runner = (shards: MigrationsOptions['shards'], more: Partial<MigrationsOptions> = {}) =>
    new Migrations({
      sql,
      log: silent,
      shards,
      projections: { barrier: async () => {} },
      now: () => clockMs,
      knows: () => true,
      undatedEveryMs: 0,
      ...more,
    })
  const begin = (id: string, strategy: 'immediate' | 'end_of_billing_period' = 'immediate') =>
    insertMigration(
      sql,
      {
        id,
        environmentId: env,
        planId: 'plan_1',
        versionId: 'v2',
        fromVersionIds: ['v1'],
        strategy,
        prorationBehavior: null,
        companyIds: null,
        excludedCompanyIds: ['comp_000002'],
        apiKeyId: null,
      },
      clockMs,
    )
  const status = async (id: string) =>
    (await sql<{ status: string }[]>`select status from plan_version_migrations where id = ${id}`)[0]?.status
  const counts = async (id: string) =>
    Object.fromEntries(
      (
        await sql<{ status: string; n: number }[]>`
          select status, count(*)::int as n from plan_version_company_migrations where migration_id = ${id} group by status`
      ).map(row => [row.status, row.n]),
    )

  await t.test('PB-20 every company is asked once, some at a time, and the excluded never', async t => {
    await onPlan(sql, 1_500)
    const { shards, asked, most } = companies(() => done)
    await begin('pvmg_all')
    const migrations = runner(shards)
    await Promise.all([migrations.run('pvmg_all'), migrations.run('pvmg_all')])
    t.equal(await status('pvmg_all'), 'completed')
    t.same(await counts('pvmg_all'), { completed: 1_499 })
    t.equal(asked.length, 1_499)
    t.equal(new Set(asked.map(([id]) => id)).size, 1_499)
    t.notOk(asked.some(([id]) => id === 'comp_000002'))
    t.ok(most() > 1 && most() <= 128, `${most()} at a time`)
    t.match(asked[0]![1], { versionId: 'v2', when: 'now', priceIds: { bilpp_1: 'bilpp_2' } }, 'EN-97')
    await migrations.stop()
  })

  await t.test('work interrupted by a stop continues at the next start', async t => {
    await onPlan(sql, 1_700)
    await begin('pvmg_stopped')
    let first: Migrations | null = null
    const before = companies(id => {
      if (id === 'comp_000300') void first!.stop()
      return done
    })
    first = runner(before.shards)
    first.start()
    await new Promise<void>(resolve => {
      const look = () => (before.asked.length >= 299 ? resolve() : setTimeout(look, 5))
      look()
    })
    await first.stop()
    const half = await counts('pvmg_stopped')
    t.ok(half.pending! > 0, JSON.stringify(half))
    const after = companies(() => done)
    const second = runner(after.shards, { everyMs: 10 })
    second.start()
    while ((await status('pvmg_stopped')) !== 'completed')
      await new Promise(resolve => setTimeout(resolve, 10))
    t.same(await counts('pvmg_stopped'), { completed: 1_699 })
    t.equal(after.asked.length, half.pending, 'those that were noted are not asked again')
    await second.stop()
  })

  await t.test('PB-20 gone, unreachable and refused companies', async t => {
    await onPlan(sql, 5)
    let away = true
    const { shards } = companies(id => {
      if (id === 'comp_000001') return new Refused('not_found')
      if (id === 'comp_000003') return new Refused('plan_not_assignable')
      if (id === 'comp_000004' && away) return new ServiceError('starting')
      return id === 'comp_000005' ? { ...done, outcome: 'skipped' } : done
    })
    await begin('pvmg_mixed')
    const migrations = runner(shards)
    await migrations.run('pvmg_mixed')
    t.same(await counts('pvmg_mixed'), { skipped: 2, failed: 1, pending: 1 })
    t.equal(await status('pvmg_mixed'), 'in_progress')
    const changed = async () =>
      (await sql`select updated_at from plan_version_migrations where id = 'pvmg_mixed'`)[0]!.updated_at
    const before = await changed()
    clockMs += 1_000
    await migrations.run('pvmg_mixed')
    t.same(await changed(), before, 'a round that changes nothing is no update')
    away = false
    await migrations.run('pvmg_mixed')
    t.same(await counts('pvmg_mixed'), { skipped: 2, failed: 1, completed: 1 })
    t.equal(await status('pvmg_mixed'), 'failed')
    const [failed] = await sql`select error_code from plan_version_company_migrations where status = 'failed'`
    t.equal(failed!.error_code, 'permanent_config')
    await migrations.stop()
  })

  await t.test(
    'PB-21 a company is asked when its date has come, one without date from time to time',
    async t => {
      await onPlan(sql, 3)
      const dueMs = clockMs + 1_000
      const { shards, asked } = companies(id => {
        if (id === 'comp_000003') return { ...done, outcome: 'scheduled', effectiveAtMs: null }
        return clockMs >= dueMs ? done : { ...done, outcome: 'scheduled', effectiveAtMs: dueMs }
      })
      await begin('pvmg_later', 'end_of_billing_period')
      const migrations = runner(shards)
      await migrations.run('pvmg_later')
      t.equal(await status('pvmg_later'), 'pending')
      t.equal(asked.length, 2)
      await migrations.run('pvmg_later')
      t.same(asked.map(([id]) => id).toSorted(), ['comp_000001', 'comp_000003', 'comp_000003'])
      clockMs = dueMs
      await migrations.run('pvmg_later')
      t.same(await counts('pvmg_later'), { completed: 1, pending: 1 })
      await migrations.stop()
    },
  )

  await t.test('no company is asked before the shards have the version, nor after it is deleted', async t => {
    await onPlan(sql, 3)
    let known = false
    const { shards, asked } = companies(() => done)
    const migrations = runner(shards, { knows: () => known })
    await begin('pvmg_early')
    await migrations.run('pvmg_early')
    t.equal(asked.length, 0)
    t.equal(await status('pvmg_early'), 'pending')
    await abandonMigrations(sql, 'plan_1', 'v3', clockMs)
    known = true
    await migrations.run('pvmg_early')
    t.equal(await status('pvmg_early'), 'completed', 'another version’s end is not its own')
    await begin('pvmg_gone')
    await abandonMigrations(sql, 'plan_1', 'v2', clockMs)
    await migrations.run('pvmg_gone')
    t.equal(await status('pvmg_gone'), 'cancelled')
    t.equal(asked.length, 2)
    await migrations.stop()
  })

  await t.test(
    'PB-23 (D1) what was called off is told, over a stop, until everybody has heard it',
    async t => {
      await onPlan(sql, 4)
      const dueMs = clockMs + 1_000
      const first = companies(() => ({ ...done, outcome: 'scheduled', effectiveAtMs: dueMs }))
      await begin('pvmg_off', 'end_of_billing_period')
      const stopped = runner(first.shards)
      await stopped.run('pvmg_off')
      t.same(await counts('pvmg_off'), { pending: 3 })
      const next = {
        id: 'pvmg_next',
        environmentId: env,
        planId: 'plan_1',
        versionId: 'v2',
        fromVersionIds: [],
        strategy: 'leave',
        prorationBehavior: null,
        companyIds: null,
        excludedCompanyIds: [],
        apiKeyId: null,
      } as const
      t.same(await callOffOlder(sql, next, clockMs), ['pvmg_off'])
      t.same([await status('pvmg_off'), await counts('pvmg_off')], ['cancelled', { cancelled: 3 }])
      await stopped.stop() // before it could tell anybody

      let away = true
      const second = companies(id => {
        if (id === 'comp_000001') return new Refused('not_found')
        return away && id === 'comp_000003' ? new ServiceError('starting') : done
      })
      clockMs = dueMs
      const after = runner(second.shards, { everyMs: 10 })
      after.start()
      const untold = async () =>
        (await sql`select company_id from plan_version_company_migrations where to_tell`).map(
          row => row.company_id,
        )
      while ((await untold()).length > 1) await new Promise(resolve => setTimeout(resolve, 10))
      t.same(await untold(), ['comp_000003'])
      away = false
      while ((await untold()).length > 0) await new Promise(resolve => setTimeout(resolve, 10))
      await after.stop()
      t.same(
        new Set(second.asked.map(([, message]) => JSON.stringify(message))),
        new Set([JSON.stringify({ type: 'cancel_migration', migrationId: 'pvmg_off' })]),
        'and nobody is asked to move',
      )
      t.same(await counts('pvmg_off'), { cancelled: 3 })
    },
  )
})
