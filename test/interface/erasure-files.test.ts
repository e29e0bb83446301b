// ER-9: after an erasure no file of the data directory holds a byte of the person or the company: not the files of the stores,
// journals, logs, nor a backup. Counts, ledger and charges are what they were.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { readConfig } from '../../src/config.js'
import { createLogger } from '../../src/log.js'
import { start, type Tollgate } from '../../src/start.js'
import { command } from '../command.js'
import { eventFeature, publishedPlan } from '../control/planned.js'
import { bootstrapKey, Client, type Response } from '../harness.js'
import { temporaryDirectory } from '../stores.js'
import { Traces } from '../traces.js'
import { ChargesWorld, metered } from './charges-world.js'
import { receiver } from './receiver.js'

t.setTimeout(1_800_000)

/** Part of every value of the person and the company, and of nothing else. */
const stem = 'qzk7vx2hwp9jt4m6'
const traces = new Traces(stem)
const long = (name: string): string => `${stem}-${name} ${'and so on '.repeat(400)}`

const dataDir = await temporaryDirectory(t)
const logFile = join(dataDir, 'log')

/** Asks again while a store is behind, as many others use the machine. */
class Patient extends Client {
  override async send(method: string, path: string, body?: unknown): Promise<Response> {
    for (;;) {
      const answer = await super.send(method, path, body)
      if (answer.status !== 503) return answer
    }
  }
}

async function begin(): Promise<{ tollgate: Tollgate; client: Client }> {
  const config = readConfig({
    TOLLGATE_HOST: '127.0.0.1',
    TOLLGATE_PORT: '0',
    TOLLGATE_SHARDS: '2',
    TOLLGATE_LIMITS: 'off',
    TOLLGATE_LOG_LEVEL: 'debug',
    TOLLGATE_BOOTSTRAP_KEY: bootstrapKey,
    TOLLGATE_DATA_DIR: dataDir,
    TOLLGATE_WEBHOOK_PRIVATE_ADDRESSES: 'true',
    TOLLGATE_FLAG_CHECK_ROWS_PER_SECOND: '1000',
  })
  const tollgate = await start(config, createLogger(config, logFile))
  return { tollgate, client: new Patient(`http://127.0.0.1:${tollgate.port}`) }
}

let { tollgate, client } = await begin()
t.teardown(() => tollgate.stop())

/** Tables of ClickHouse with a row that has the text: its files are packed, so rows are read. */
async function inRows(): Promise<string[]> {
  const { clickhouse } = tollgate.services
  const tables = await clickhouse.select<{ name: string }>(
    `SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'`,
  )
  const found: string[] = []
  for (const { name } of tables) {
    const rows = await clickhouse.select(
      `SELECT 1 FROM (SELECT formatRow('JSONEachRow', *) AS line FROM ${name}) WHERE position(line, {stem:String}) > 0 LIMIT 1`,
      { stem },
    )
    if (rows.length > 0) found.push(name)
  }
  return found
}

/** Parts on the disk that belong to no table any more. */
async function oldParts(): Promise<string[]> {
  const active = await tollgate.services.clickhouse.select<{ path: string }>(
    'SELECT path FROM system.parts WHERE active',
  )
  const names = new Set(active.map(({ path }) => path.split('/').filter(Boolean).slice(-2).join('/')))
  const root = join(dataDir, 'clickhouse')
  return (await readdir(root, { recursive: true, withFileTypes: true }))
    .filter(entry => entry.isFile() && entry.name === 'checksums.txt')
    .map(entry => entry.parentPath.split('/').slice(-2).join('/'))
    .filter(part => !names.has(part))
}

/** Everything that is counted, credited and charged of the company and the person. */
async function figures() {
  const { sql, clickhouse } = tollgate.services
  const ids = { company: company.id, user: user.id }
  const rows = (statement: string) => clickhouse.select(statement, ids)
  return {
    byHour: await rows(
      `SELECT subtype, hour, sum(quantity) AS units, sum(events) AS events FROM usage_by_hour
       WHERE company_id = {company:String} GROUP BY ALL ORDER BY ALL`,
    ),
    byUser: await rows(
      `SELECT subtype, hour, sum(quantity) AS units FROM usage_by_user_hour WHERE user_id = {user:String} GROUP BY ALL ORDER BY ALL`,
    ),
    checks: await rows(
      `SELECT flag_key, value, reason, sum(checks) AS checks FROM flag_checks WHERE company_id = {company:String}
       GROUP BY ALL ORDER BY ALL`,
    ),
    ledger: await rows(
      `SELECT * FROM credit_ledger WHERE company_id = {company:String} AND event_type != 'zero_out' ORDER BY sequence`,
    ),
    events: await rows(
      `SELECT type, subtype, quantity, captured_at, status FROM events WHERE company_id = {company:String} ORDER BY captured_at, id`,
    ),
    periods: await sql`select * from billing_periods where company_id = ${company.id} order by start_ms`,
    lines:
      await sql`select * from charge_lines where company_id = ${company.id} order by period_start_ms, line`,
  }
}

// parts that were written anew go after a second in place of eight minutes
for (const table of ['events', 'event_claims'])
  await tollgate.services.clickhouse.command(
    `ALTER TABLE ${table} MODIFY SETTING old_parts_lifetime = 1, cleanup_delay_period = 1,
       cleanup_delay_period_random_add = 0, max_cleanup_delay_period = 1`,
  )

const world = await ChargesWorld.of(client)
await world.clock('2031-01-15T10:30:00.000Z')
const hooks = await receiver(t)
hooks.answers.push(...Array.from({ length: 4 }, () => 500))
await client.ok('POST', '/webhooks', {
  name: 'all',
  url: hooks.url,
  request_types: ['company.created', 'company.updated', 'user.created', 'user.updated'],
})
const feature = await eventFeature(client, 'Calls', 'call')
const basic = await world.sold(
  'Basic',
  [{ ...metered, feature_id: feature.id, price_behavior: 'pay_as_you_go', monthly_unit_price: 3 }],
  { monthly_price: 1000 },
)
const other = await client.ok('POST', '/companies', { keys: { slug: 'other' }, name: 'Other' })
const company = await client.ok('POST', '/companies', {
  keys: { slug: `${stem}-slug`, tenant: `${stem}-ö"t` },
  name: `${stem} "Ltd" ö`,
  traits: { city: `${stem}-city`, story: long('story') },
})
const slug = { slug: `${stem}-slug` }
const user = await client.ok('POST', '/users', {
  keys: { email: `${stem}@mail.example` },
  name: `${stem} name`,
  company: slug,
  traits: { title: `${stem}-title`, story: long('life') },
})
const email = { email: `${stem}@mail.example` }

/** Each surface that takes texts of a company or a person. */
async function leaveTexts(): Promise<void> {
  await world.manage(company.id, { base_plan_id: basic.id, base_plan_price_id: basic.monthly_price.id })
  await client.ok('POST', '/company-overrides', {
    company_id: company.id,
    feature_id: feature.id,
    value_type: 'numeric',
    value_numeric: 100,
    note: `${stem}-note`,
  })
  const credit = await client.ok('POST', '/billing/credits', {
    name: 'Units',
    description: '',
    currency: 'usd',
  })
  await client.ok('POST', '/billing/credits/grants/company', {
    company_id: company.id,
    credit_id: credit.id,
    reason: 'free',
    quantity: 100,
    idempotency_key: `grant ${stem}-idem`,
  })
  await client.ok('POST', '/billing/credits/reservations', {
    company_id: company.id,
    credit_type_id: credit.id,
    amount: 4,
    idempotency_key: `hold ${stem}-idem`,
  })
  await client.ok('POST', '/billing/credits/spend-policies', {
    billing_credit_id: credit.id,
    max_per_draw: 20,
    company_id: company.id,
    label: `${stem} label`,
  })
  for (let i = 0; i < 50; i++)
    await client.ok('POST', '/events', {
      event_type: 'track',
      idempotency_key: `${stem}-idem-${i}`,
      body: {
        event: 'call',
        company: slug,
        user: email,
        traits: { note: `${stem} ${i}`, long: long('event') },
      },
    })
  // failed events that name the person without being theirs
  await client.post('/events', {
    event_type: 'identify',
    body: { keys: email, company: { keys: { slug: 'other' } }, traits: { title: `${stem}-title` } },
  })
  for (let i = 0; i < 5; i++) await client.ok('POST', '/flags/calls/check', { company: slug, user: email })
  await client.ok('POST', '/companies', { keys: slug, traits: { city: `${stem}-town` } })
  await client.get(`/companies/lookup?slug=${stem}-slug`)
  // a key that it had before, and a request that names that one alone
  await client.ok('POST', '/companies', { keys: { ...slug, tenant: `${stem}-second` } })
  await client.post('/flags/calls/check', { company: { tenant: `${stem}-ö"t` } })
  await client.post('/users', { keys: email, traits: { title: 7, age: [stem] } })
  const move = { plan_id: (await publishedPlan(client, 'Small')).id, filter: { q: stem } }
  await client.ok('POST', '/plan-moves/preview', move)
}

/** Records of a payment provider, and a plan of its own. */
async function leaveBilling(): Promise<void> {
  const customer = `${stem}-cus`
  await client.ok('POST', '/billing/customer/upsert', {
    external_id: customer,
    name: `${stem} name`,
    email: `${stem}@bill.example`,
    meta: { about: stem },
    company_id: company.id,
  })
  await client.ok('POST', '/billing/payment-methods', {
    external_id: `${stem}-pm`,
    customer_external_id: customer,
    payment_method_type: 'card',
    billing_name: `${stem} name`,
    billing_email: `${stem}@bill.example`,
  })
  await client.ok('POST', '/billing/product/upsert', { external_id: 'seat', name: 'Seat', price: 1 })
  await client.ok('POST', '/billing/price/upsert', {
    price_external_id: 'seat-price',
    product_external_id: 'seat',
    external_account_id: 'acct',
    currency: 'usd',
    interval: 'month',
    price: 1000,
    billing_scheme: 'per_unit',
    price_tiers: [],
    usage_type: 'licensed',
    is_active: true,
  })
  await client.ok('POST', '/billing/subscription/upsert', {
    subscription_external_id: `${stem}-sub`,
    customer_external_id: customer,
    currency: 'usd',
    total_price: 1000,
    cancel_at_period_end: false,
    expired_at: '2032-01-01T00:00:00Z',
    default_payment_method_external_id: `${stem}-pm`,
    metadata: { about: stem },
    discounts: [],
    product_external_ids: [
      {
        product_external_id: 'seat',
        price_external_id: 'seat-price',
        subscription_item_external_id: `${stem}-item`,
        currency: 'usd',
        interval: 'month',
        price: 1000,
        quantity: 1,
        usage_type: 'licensed',
      },
    ],
  })
  await client.ok('POST', '/billing/invoices', {
    external_id: `${stem}-in`,
    customer_external_id: customer,
    subscription_external_id: `${stem}-sub`,
    amount_due: 1000,
    amount_paid: 0,
    amount_remaining: 1000,
    subtotal: 1000,
    collection_method: 'charge_automatically',
    currency: 'usd',
    status: 'open',
    url: `https://bill.example/${stem}`,
  })
  await client.ok('PUT', `/companies/${company.id}/billing-details`, {
    values: [],
    address: { city: stem, country: 'NO', line1: stem, line2: '', postal_code: '0150', state: '' },
    email: `${stem}@money.example`,
    tax_id: { type: 'no_vat', value: stem },
  })
  const custom = await client.ok('POST', '/custom-plans', { company_id: company.id, name: `${stem} plan` })
  await client.ok('PUT', `/plans/${custom.id}/billing_products`, {
    charge_type: 'recurring',
    is_trialable: false,
    monthly_price: 700,
  })
  await client.ok('POST', '/plan-entitlements', {
    plan_id: custom.id,
    ...metered,
    feature_id: feature.id,
    price_behavior: 'pay_as_you_go',
    monthly_unit_price: 5,
  })
  await client.ok('PUT', `/plans/version/${custom.draft_version.id}/publish`, {
    migration_strategy: 'leave',
    excluded_company_ids: [],
    days_until_due: 10,
    customer_email: `${stem}@mail.example`,
  })
}

const cleared = async (): Promise<boolean> =>
  (await client.ok('GET', '/erasures')).every(
    (one: { gone_from_files_at: string | null }) => one.gone_from_files_at !== null,
  )

t.test('ER-9 before the erasure the search finds the values in every kind of file but the log', async t => {
  await leaveTexts()
  await world.clock('2031-02-16T00:00:00.000Z')
  const charges = await world.closed(company.id)
  t.ok(charges.lines.length > 0, 'a closed period')
  await leaveBilling()
  const { services } = tollgate
  await services.shards.checkpoint()
  await services.projections.barrier('postgres')
  await services.projections.barrierOf('clickhouse', world.environmentId)
  await services.sql`analyze`
  await services.sql`checkpoint`
  const files = await traces.inFiles(dataDir)
  const among = (place: string) => files.some(file => file.startsWith(place))
  for (const place of ['postgres/data/base', 'postgres/data/pg_wal', 'journal'])
    t.ok(among(place), `${place} of ${files.length}`)
  t.ok((await inRows()).length > 0, 'ClickHouse')
  t.notOk(among('log'), 'the log')
  t.match(await readFile(logFile, 'utf8'), /"level":"debug"/, 'and the log says everything it can')
})

t.test(
  'ER-9 after it no file holds a byte of them; ER-2 counts, ledger and charges are what they were',
  async t => {
    const { services } = tollgate
    await services.projections.sendChecks()
    const before = await figures()
    t.ok(before.lines.length > 0 && before.ledger.length > 0 && before.checks.length > 0)
    await client.ok('POST', `/users/${user.id}/erase`, {})
    const record = await client.ok('POST', `/companies/${company.id}/erase`, {})
    t.equal(record.gone_from_files_at, null, 'not at once')
    t.same(await inRows(), [])
    while (!(await cleared())) await sleep(1_000)
    const [{ wal_recycle: recycles } = {}] = await services.sql`show wal_recycle`
    t.equal(recycles, 'on', 'the setting is as it was')
    t.same(await traces.inFiles(dataDir), [], 'files of the running service')
    t.same(await oldParts(), [], 'ClickHouse has no part but those whose rows were read')
    t.same(await inRows(), [])
    t.same(await figures(), before)
    t.equal((await client.ok('GET', `/companies/${other.id}`)).name, 'Other')
  },
)

t.test('ER-6 ER-9 nor do a backup that is taken later, a stop and the next start', async t => {
  const directory = join(dataDir, 'backup')
  const taken = await command(dataDir, ['backup', directory])
  t.equal(taken.code, 0, taken.said)
  t.same(await traces.inFiles(directory), [])
  const before = await figures()
  await tollgate.stop()
  t.same(await traces.inFiles(dataDir), [], 'files of the stopped service')
  ;({ tollgate, client } = await begin())
  t.same(await figures(), before)
  t.ok(await cleared())
  t.same(await traces.inFiles(dataDir), [], 'files after the next start')
})
