// `tollgate import` of everything a team brings along: CSV and NDJSON, with and without a mapping (IM).
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { startHere } from '../harness.js'
import { temporaryDirectory } from '../stores.js'

t.setTimeout(600_000)

const program = fileURLToPath(new URL('../../../bin/tollgate', import.meta.url))
const { client } = await startHere(t)
const directory = await temporaryDirectory(t)

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

function begin(args: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const env = { ...process.env, TOLLGATE_URL: client.url, TOLLGATE_KEY: client.key, ...more }
  const child = spawn(process.execPath, [program, 'import', ...args], { env })
  const ran = new Promise<Ran>(resolve => {
    let [out, err] = ['', '']
    child.stdout.on('data', chunk => {
      out += chunk
    })
    child.stderr.on('data', chunk => {
      err += chunk
    })
    child.on('close', code => resolve({ code, out, err }))
  })
  return { child, ran }
}
const run = (args: readonly string[], more = {}) => begin(args, more).ran

async function file(name: string, text: string | Buffer): Promise<string> {
  const path = join(directory, name)
  await writeFile(path, text)
  return path
}

async function rejectsOf(path: string) {
  const text = await readFile(`${path}.rejects`, 'utf8')
  return text
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as { line: number; member: string | null; error: string; text: string })
}

const lookup = (number: string) => client.ok('GET', `/companies/lookup?number=${number}`)
const companyCount = async () => (await client.ok('GET', '/companies/count')).count as number

const calls = await client.ok('POST', '/features', {
  name: 'Calls',
  event_subtype: 'call',
  flag: { key: 'calls' },
})
await client.ok('POST', '/features', { name: 'Reports', flag: { key: 'reports' } })
async function plan(name: string, more: object = {}): Promise<string> {
  const made = await client.ok('POST', '/plans', {
    name,
    entitlements: [{ feature_id: calls.id, value_numeric: 100, metric_period: 'current_month' }],
    ...more,
  })
  await client.ok('PUT', `/plans/version/${made.draft_version.id}/publish`, {})
  return made.id
}
await plan('Pro', {
  billing_product: { monthly_price: 1900, yearly_price: 19_000, trial_days: 14 },
})
await plan('Starter')
await plan('Storage', { plan_type: 'add_on', entitlements: [] })
const credit = await client.ok('POST', '/billing/credits', {
  name: 'Units',
  description: '',
  currency: 'usd',
})

const mapping = await file(
  'customers.yaml',
  `kind: companies
time_zone: Europe/Berlin
columns:
  keys.number: Customer no
  name: Company
  traits.city: City
  traits.seats: { column: Seats, type: number }
  traits.source: { value: crm }
  plan: { column: Tier, values: { gold: Pro, basic: Starter }, default: Starter }
  interval: { value: year }
  add_ons: { column: Options, split: "|" }
  created_at: { column: Since, date: dd.MM.yyyy }
`,
)
// a byte order mark, semicolons, CRLF, quotes with separators, newlines and quotes inside, blank lines, an unused column
const customers = `\uFEFFCustomer no;Company;City;Seats;Tier;Options;Since;Remark\r
1042;"Acme; the ""best""\r
of all";Berlin;5;gold;Storage;01.03.2024;old\r
\r
1043;Globex; "Den; Haag" ;12.5;basic;;15.07.2025;\r
1044;Initech;;;;;;\r
`

t.test('IM-1 companies come from CSV with a mapping; a dry run says what it would do', async t => {
  const path = await file('customers.csv', customers)
  const dry = await run([path, '--mapping', mapping, '--dry-run'])
  t.equal(dry.code, 0, dry.err)
  t.match(dry.out, 'line 2: + number=1042')
  t.match(dry.out, 'companies: 3 made, 0 changed, 0 unchanged, 0 rejected')
  t.match(dry.out, 'A dry run: nothing was written.')
  t.match(dry.err, 'columns that are not used: Remark')
  t.equal(await companyCount(), 0)

  const first = await run([path, '--mapping', mapping])
  t.equal(first.code, 0, first.err)
  t.match(first.out, 'companies: 3 made, 0 changed, 0 unchanged, 0 rejected')
  t.notOk(existsSync(`${path}.progress`))
  const acme = await lookup('1042')
  t.equal(acme.name, 'Acme; the "best"\r\nof all')
  t.match(acme.traits, { city: 'Berlin', seats: 5, source: 'crm' })
  t.equal(acme.created_at, '2024-02-29T23:00:00.000Z', 'midnight in Berlin')
  t.equal(acme.plan.name, 'Pro')
  t.equal(acme.plan.plan_period, 'year')
  t.equal(
    acme.billing_subscription.status,
    'active',
    'IM-10 a customer that is brought along has no new trial',
  )
  t.same(
    acme.add_ons.map((one: { name: string }) => one.name),
    ['Storage'],
  )
  const globex = await lookup('1043')
  t.match(globex.traits, { city: 'Den; Haag', seats: 12.5 })
  t.equal(globex.plan.name, 'Starter')
  t.equal((await lookup('1044')).plan.name, 'Starter', 'by the default')
})

t.test('IM-2 a second run changes nothing and says so; IM-3 a changed record is changed alone', async t => {
  const path = await file('customers.csv', customers)
  const subscription = (await lookup('1042')).billing_subscription.id
  const again = await run([path, '--mapping', mapping])
  t.equal(again.code, 0, again.err)
  t.match(again.out, 'companies: 0 made, 0 changed, 3 unchanged, 0 rejected\nNothing changed.')
  t.equal((await lookup('1042')).billing_subscription.id, subscription)
  const changed = await file(
    'customers-2.csv',
    customers.replace('Globex; "Den; Haag"', 'Globex NV;Delft').replace('basic', 'gold'),
  )
  const dry = await run([changed, '--mapping', mapping, '--dry-run'])
  t.match(
    dry.out,
    'line 5: ~ number=1043  name: "Globex" → "Globex NV", traits.city: "Den; Haag" → "Delft", plan: "Starter" → "Pro"',
  )
  t.match((await run([changed, '--mapping', mapping])).out, '0 made, 1 changed, 2 unchanged, 0 rejected')
  t.match(await lookup('1043'), { name: 'Globex NV', plan: { name: 'Pro' } })
})

t.test('IM-4 what is not taken goes to a file with its line, its member and the reason', async t => {
  const path = await file(
    'faults.csv',
    `Customer no,Company,City,Seats,Tier,Options,Since
2001,A,X,many,gold,,01.01.2024
2002,B,X,1,Por,,01.01.2024
2003,C,X,1,gold,,31.02.2024
2004,D, E,X,1,gold,,01.01.2024
,F,X,1,gold,,01.01.2024
2006,G,X,1,gold,Storge,01.01.2024
2007,H,X,1,basic,,01.01.2024
2008,I,X,1,basic,,01.01.2999
`,
  )
  const ran = await run([path, '--mapping', mapping])
  t.equal(ran.code, 3)
  t.match(ran.out, 'companies: 1 made, 0 changed, 0 unchanged, 7 rejected')
  t.match(ran.err, `rejected records and the reasons: ${path}.rejects`)
  t.match(await rejectsOf(path), [
    { line: 2, member: 'traits.seats', error: /"many" is no number/, text: '2001,A,X,many,gold,,01.01.2024' },
    { line: 3, member: 'plan', error: /no plan is called "Por", did you mean "Pro"\?; there are/ },
    { line: 4, member: 'created_at', error: /"31.02.2024" is no date of the form dd.MM.yyyy/ },
    { line: 5, member: null, error: /8 cells where the header has 7/ },
    { line: 6, member: 'keys', error: /keys: missing/ },
    { line: 7, member: 'add_ons', error: /did you mean "Storage"/ },
    { line: 9, member: 'created_at', error: /created_at/ },
  ])
})

t.test(
  'IM-5 a mistake in a mapping or a file stops before anything is sent, and says what would be right',
  async t => {
    const good = 'Customer no,Company\n1,A\n'
    const of = async (text: string | Buffer, columns: string, more: readonly string[] = []) => {
      const path = await file('mistake.csv', text)
      const map = await file('mistake.yaml', columns)
      const ran = await run([path, '--mapping', map, ...more])
      t.equal(ran.code, 1, ran.out)
      return ran.err
    }
    t.match(
      await of(good, 'kind: companies\ncolumns: { keys.number: Custmer no }'),
      /the file has no column "Custmer no", did you mean "Customer no"\?; it has Customer no, Company/,
    )
    t.match(
      await of(good, 'kind: companies\ncolumns: { keys.number: Customer no, nmae: Company }'),
      /columns\.nmae: companies have no such member, did you mean "name"\?/,
    )
    t.match(
      await of(good, 'kind: compnies\ncolumns: {}'),
      /kind: compnies is not known, did you mean "companies"/,
    )
    t.match(await of(good, 'knd: companies'), /knd: not known, did you mean "kind"/)
    t.match(await of(good, 'kind: companies\ncolumns: { keys: Company }'), /keys: name one of its members/)
    t.match(
      await of(good, 'kind: companies\ncolumns: { name: { colum: Company } }'),
      /columns\.name\.colum: not known, did you mean "column"/,
    )
    t.match(await of(good, 'kind: companies\ntime_zone: Berlin'), /"Berlin" is no time zone/)
    t.match(await of('a,a\n1,2\n', 'kind: companies\ncolumns: { name: a }'), /has the column "a" twice/)
    t.match(
      await of(`${good}2,"B\n3,C\n`, 'kind: companies'),
      /mistake\.csv, line \d: a quote is opened and never/,
    )
    t.match(await of(`${good}2,"B"b\n`, 'kind: companies'), /line 3: a quote inside a cell; write it twice/)
    t.match(await of('', 'kind: companies'), /empty; the first line names the columns/)
    t.match(await of(good, ''), /expected kind and columns/)
    t.match(
      await of(good, 'kind: companies', ['--kind', 'users']),
      /--kind users: the mapping says companies/,
    )
    const latin = Buffer.from('keys.number,name\n77,M\xfcller\n', 'latin1')
    t.match(await of(latin, 'kind: companies'), /not utf-8; a mapping names another encoding/)
    const path = await file('latin.csv', latin)
    const map = await file('latin.yaml', 'kind: companies\nencoding: windows-1252\n')
    t.equal((await run([path, '--mapping', map])).code, 0)
    t.equal((await lookup('77')).name, 'Müller')
    const none = await run([await file('none.csv', good)])
    t.match(none.err, /say what the file has: --kind, or kind in a mapping/)
    const column = await run([await file('column.csv', 'keys.number,nane\n1,A\n'), '--kind', 'companies'])
    t.match(column.err, /the column "nane" is no member of companies, did you mean "name"\?/)
    t.match((await run([await file('x.csv', good), '--kind', 'people'])).err, /Allowed choices/)
  },
)

t.test('IM-1 users join companies that are there; NDJSON takes the members themselves', async t => {
  const path = await file(
    'users.csv',
    'keys.email,name,company.number,traits.role\na@example.com,Ada,1042,admin\nb@example.com,Bob,4711,\n',
  )
  const ran = await run([path, '--kind', 'users'])
  t.match(ran.out, 'users: 1 made, 0 changed, 0 unchanged, 1 rejected')
  t.match(await rejectsOf(path), [
    { line: 3, member: 'company', error: 'company: no company has number=4711; import companies first' },
  ])
  t.equal((await client.get('/companies/lookup?number=4711')).status, 404, 'none is made by a mistyped key')
  const ada = await client.ok('GET', '/users/lookup?email=a@example.com')
  t.equal(ada.company_memberships.length, 1)
  const lines = await file(
    'users.ndjson',
    [
      { keys: { email: 'a@example.com' }, companies: [{ number: '1042' }, { number: '1043' }] },
      { keys: { email: 'c@example.com' }, name: 'Cleo', traits: { a: { b: 1 } }, created_at: '2020-02-02' },
      { keys: { email: 'd@example.com' }, nme: 'x' },
    ]
      .map(one => JSON.stringify(one))
      .join('\n'),
  )
  t.match((await run([lines, '--kind', 'users'])).out, 'users: 1 made, 1 changed, 0 unchanged, 1 rejected')
  t.match(await rejectsOf(lines), [{ line: 3, member: 'nme', error: /not a member, did you mean "name"/ }])
  t.match((await run([lines, '--kind', 'users'])).out, 'users: 0 made, 0 changed, 2 unchanged, 1 rejected')
  t.equal(
    (await client.ok('GET', '/users/lookup?email=c@example.com')).created_at,
    '2020-02-02T00:00:00.000Z',
  )
})

t.test('IM-1 overrides are upserted by company and feature', async t => {
  const head = 'company.number,feature,value,expires_at,note\n'
  const path = await file(
    'overrides.csv',
    `${head}1042,calls,500,2999-01-01,agreed in May\n1043,Reports,yes,,\n1043,Calls,unlimited,,\n1044,calls,lots,,\n1044,cals,1,,\n`,
  )
  const ran = await run([path, '--kind', 'overrides'])
  t.match(ran.out, 'overrides: 3 made, 0 changed, 0 unchanged, 2 rejected', ran.err)
  t.match(await rejectsOf(path), [
    { member: 'value', error: /"lots" is no limit of Calls: expected a whole number, unlimited/ },
    { member: 'feature', error: /no feature is called "cals", did you mean "Calls"/ },
  ])
  t.match(
    (await run([path, '--kind', 'overrides'])).out,
    '0 made, 0 changed, 3 unchanged, 2 rejected\nNothing',
  )
  const changed = await file('overrides-2.csv', `${head}1042,calls,700,2999-01-01,\n`)
  t.match((await run([changed, '--kind', 'overrides'])).out, 'overrides: 0 made, 1 changed')
  const { id } = await lookup('1042')
  const found = await client.ok('GET', `/company-overrides?company_id=${id}`)
  t.match(found, [{ value_numeric: 700, expiration_date: '2999-01-01T00:00:00.000Z' }])
  t.equal(found.length, 1)
  t.equal(found[0].notes.length, 1)
})

t.test('IM-6 grants: equal lines are so many grants, and a second run makes none', async t => {
  const path = await file(
    'grants.csv',
    'company.number,credit,quantity,expires_at\n1042,Units,100,\n1042,units,50,2999-01-01\n1042,Units,100,\n1043,Unit,5,\n',
  )
  const balance = async () => {
    const { id } = await lookup('1042')
    const [one] = await client.ok('GET', `/billing/credits/balance?company_id=${id}`)
    return one.remaining as number
  }
  const dry = await run([path, '--kind', 'grants', '--dry-run'])
  t.match(dry.out, 'grants: 3 made, 0 changed, 0 unchanged, 1 rejected')
  t.match((await run([path, '--kind', 'grants'])).out, 'grants: 3 made, 0 changed, 0 unchanged, 1 rejected')
  t.equal(await balance(), 250)
  t.match((await run([path, '--kind', 'grants'])).out, '0 made, 0 changed, 3 unchanged, 1 rejected\nNothing')
  t.equal(await balance(), 250)
  t.match(await rejectsOf(path), [{ member: 'credit', error: /did you mean "Units"/ }])
  t.equal(credit.name, 'Units')
})

t.test('IM-1 subscriptions of a provider: lines of one id are its products', async t => {
  for (const external_id of ['prod_base', 'prod_seats'])
    await client.ok('POST', '/billing/product/upsert', { external_id, price: 0, name: external_id })
  const path = await file(
    'subscriptions.csv',
    `id,company.number,currency,product,price,unit_price,quantity,period_start,period_end
sub_1,1044,eur,prod_base,price_b,4900,1,2026-11-01,2999-12-01
sub_1,1044,eur,prod_seats,price_s,500,3,2026-11-01,2999-12-01
sub_2,1043,eur,prod_none,price_b,4900,1,2026-11-01,2999-12-01
`,
  )
  const ran = await run([path, '--kind', 'subscriptions'])
  t.match(ran.out, 'subscriptions: 1 made, 0 changed, 0 unchanged, 1 rejected', ran.err)
  t.match(await rejectsOf(path), [{ line: 4, member: 'product', error: /no product is called "prod_none"/ }])
  const [subscription] = (await lookup('1044')).billing_subscriptions
  t.match(subscription, { subscription_external_id: 'sub_1', total_price: 6400, currency: 'eur' })
  t.equal(subscription.products.length, 2)
  const again = await run([path, '--kind', 'subscriptions'])
  t.match(again.out, 'subscriptions: 0 made, 0 changed, 1 unchanged, 1 rejected\nNothing changed.')
  const more = await file('subscriptions-2.csv', (await readFile(path, 'utf8')).replace('500,3', '500,4'))
  t.match((await run([more, '--kind', 'subscriptions'])).out, '0 made, 1 changed, 0 unchanged, 1 rejected')
})

t.test('IM-7 past events come from CSV, and are counted once', async t => {
  const map = await file(
    'events.yaml',
    'kind: events\ncolumns: { event: What, company.number: Who, quantity: Units, sent_at: { column: At, date: unix } }\n',
  )
  const at = Math.floor(Date.now() / 1_000) - 3_600
  const path = await file(
    'events.csv',
    `What,Who,Units,At\ncall,1044,30,${at}\ncall,1044,,${at}\ncall,1044,x,${at}\ncall,1044,1,\n`,
  )
  const dry = await run([path, '--mapping', map, '--dry-run'])
  t.match(dry.out, '2 events would be sent, 2 rejected')
  t.match((await run([path, '--mapping', map])).out, '2 events imported, 2 rejected')
  t.match(await rejectsOf(path), [
    { line: 4, member: 'quantity', error: /"x" is no whole number/ },
    { line: 5, member: 'sent_at', error: /a past event needs its time/ },
  ])
  const again = await run([path, '--mapping', map])
  t.match(again.out, '0 events imported, 2 known already, 2 rejected\nNothing changed.')
  const used = (await lookup('1044')).metrics.find((one: { period: string }) => one.period === 'all_time')
  t.equal(used.value, 31)
  // what was imported longer ago than keys are known is not sent again
  const done = JSON.parse(await readFile(`${path}.imported`, 'utf8'))
  await writeFile(`${path}.imported`, JSON.stringify({ ...done, at: '2020-01-01T00:00:00.000Z' }))
  t.match((await run([path, '--mapping', map])).out, 'Nothing changed: the file was imported at 2020-01-01')
})

t.test('IM-8 an import that was killed goes on, and brings each record once', async t => {
  const many = 300
  const rows = Array.from(
    { length: many },
    (_, n) => `${n + 10_000},C${n},${n % 100 === 7 ? 'Nope' : 'Starter'}`,
  )
  const path = await file('many.csv', `keys.number,name,plan\n${rows.join('\n')}\n`)
  const before = await companyCount()
  await killedAndResumed(t, path, 'companies')
  t.equal(await companyCount(), before + many - 3)
  t.equal((await rejectsOf(path)).length, 3, 'rejects before and after the kill, each once')
  const lines = Array.from({ length: many }, (_, n) => `${10_000 + 10 * (n % 10)},Units,${1 + (n % 3)}`)
  const given = await file('many-grants.csv', `company.number,credit,quantity\n${lines.join('\n')}\n`)
  await killedAndResumed(t, given, 'grants')
  let sum = 0
  for (let n = 0; n < 10; n++) {
    const { id } = await lookup(String(10_000 + 10 * n))
    const [one] = await client.ok('GET', `/billing/credits/balance?company_id=${id}`)
    sum += one.remaining
  }
  t.equal(sum, (many / 3) * 6)
  const elsewhere = begin([path, '--kind', 'companies', '--batch', '5'])
  while (!existsSync(`${path}.progress`)) await setTimeout(5)
  elsewhere.child.kill('SIGKILL')
  await elsewhere.ran
  await writeFile(path, 'keys.number,name\n1,A\n')
  const other = await run([path, '--kind', 'companies'])
  t.equal(other.code, 1)
  t.match(other.err, /many\.csv\.progress belongs to another file of this name: remove it to begin anew/)
})

async function killedAndResumed(t: Test, path: string, kind: string): Promise<void> {
  const first = begin([path, '--kind', kind, '--batch', '10'])
  while (!existsSync(`${path}.progress`)) await setTimeout(5)
  await setTimeout(50)
  first.child.kill('SIGKILL')
  await first.ran
  t.ok(existsSync(`${path}.progress`), 'killed in between')
  const second = await run([path, '--kind', kind])
  t.match(second.err, /going on after line \d+/)
  t.ok(second.code === 0 || second.code === 3, second.err)
  t.match((await run([path, '--kind', kind])).out, 'Nothing changed.')
}

t.test('IM-9 a large file is read in bounded memory', async t => {
  const path = join(directory, 'large.csv')
  const out = createWriteStream(path)
  out.write('event,company.number,quantity,sent_at\n')
  for (let n = 0; n < 100_000; n++)
    if (!out.write(`call,${n % 1_000},${n},2026-11-01T00:00:00Z\n`)) await once(out, 'drain')
  await once(out.end(), 'finish')
  const ran = await run([path, '--kind', 'events', '--dry-run'], { NODE_OPTIONS: '--max-old-space-size=64' })
  t.match(ran.out, '100000 events would be sent, 0 rejected', ran.err)

  const line = JSON.stringify({
    event_type: 'track',
    sent_at: '2026-11-01T00:00:00Z',
    body: { event: 'call', company: { slug: 'a' } },
  })
  const long = createWriteStream(join(directory, 'long.ndjson'))
  long.write(`${line}\n{"event": "`)
  for (let n = 0; n < 100; n++) if (!long.write('x'.repeat(1 << 20))) await once(long, 'drain')
  await once(long.end(`"}\n${line}\n`), 'finish')
  const cut = await run([join(directory, 'long.ndjson'), '--kind', 'events', '--dry-run'], {
    NODE_OPTIONS: '--max-old-space-size=64',
  })
  t.match(cut.out, '2 events would be sent, 1 rejected', cut.err)
})
