// An import leaves nothing behind of what it refuses (IM-4, IM-5).
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { command } from '../command.js'
import { startHere } from '../harness.js'
import { temporaryDirectory } from '../stores.js'

const { client, dataDir } = await startHere(t)
const directory = await temporaryDirectory(t)
const reach = { TOLLGATE_URL: client.url, TOLLGATE_KEY: client.key }
const run = (args: readonly string[]) => command(dataDir, ['import', ...args], reach)

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
    .map(line => JSON.parse(line))
}

const lookup = (number: string) => client.ok('GET', `/companies/lookup?number=${number}`)
const companyCount = async () => (await client.ok('GET', '/companies/count')).count as number

for (const [name, more] of [
  ['Pro', { billing_product: { monthly_price: 1900, yearly_price: 19_000 } }],
  ['Starter', {}],
] as const) {
  const { draft_version: draft } = await client.ok('POST', '/plans', { name, ...more })
  await client.ok('PUT', `/plans/version/${draft.id}/publish`, {})
}
for (const external_id of ['prod_base', 'prod_seats'])
  await client.ok('POST', '/billing/product/upsert', { external_id, price: 0, name: external_id })
await client.ok('POST', '/companies', { keys: { number: '1042' } })

t.test('IM-5 bytes of another encoding and a file that is cut are found before anything is sent', async t => {
  const lines = Array.from(
    { length: 3_000 },
    (_, i) => `{"keys":{"number":"cut${i}"},"name":"${'n'.repeat(40)}"}\n`,
  )
  const good = Buffer.from(lines.join(''))
  const bad = Buffer.concat([good, Buffer.from('{"keys":{"number":"\xff"}}\n{}\n', 'latin1')])
  const before = await companyCount()
  const of = async (name: string, text: Buffer) => {
    const path = await file(name, text)
    const ran = await run([path, '--kind', 'companies'])
    t.equal(ran.code, 1, ran.said)
    t.equal(await companyCount(), before, name)
    return ran.said.replace(path, name)
  }
  t.match(await of('bytes.ndjson', bad), /^bytes\.ndjson, line 3001: not utf-8/)
  const short = Buffer.from('keys.number,name\nx1,A\nx2,M\xfcller\n', 'latin1')
  t.match(await of('bytes.csv', short), /^bytes\.csv, line 3: not utf-8/)
  t.match(await of('cut.ndjson.gz', gzipSync(good).subarray(0, -20)), /^cut\.ndjson\.gz, line \d+: /)
})

t.test('IM-4 a company whose plan is refused is not made, and is not changed', async t => {
  const text = 'keys.number,name,plan\n3001,New,Pro\n3002,Fine,Starter\n'
  const ran = await run([await file('plans.csv', text), '--kind', 'companies'])
  t.match(ran.said, 'companies: 1 made, 0 changed, 0 unchanged, 1 rejected')
  t.equal((await client.get('/companies/lookup?number=3001')).status, 404)
  t.equal((await lookup('3002')).plan.name, 'Starter')
  const changes = await file('plans-2.csv', 'keys.number,name,plan\n3002,Renamed,Pro\n')
  t.match((await run([changes, '--kind', 'companies'])).said, '0 changed, 0 unchanged, 1 rejected')
  t.match(await rejectsOf(changes), [{ line: 2, member: 'base_plan_id' }])
  t.match(await lookup('3002'), { name: 'Fine', plan: { name: 'Starter' } })
})

t.test('IM-3 a dry run rejects a company whose plan would be refused', async t => {
  const path = await file(
    'dry.csv',
    'keys.number,name,plan\n3101,New,Pro\n3002,Other,Pro\n3102,Fine,Starter\n',
  )
  for (const how of [['--dry-run'], []]) {
    const ran = await run([path, '--kind', 'companies', ...how])
    t.match(ran.said, 'companies: 1 made, 0 changed, 0 unchanged, 2 rejected', how.join())
    t.match(await rejectsOf(`${path}${how.length > 0 ? '.dry-run' : ''}`), [
      { line: 2, member: 'plan', error: /is sold for usd a month, usd a year; the record names none/ },
      { line: 3, member: 'base_plan_id' },
    ])
  }
  t.match(await lookup('3002'), { name: 'Fine', plan: { name: 'Starter' } })
})

t.test('IM-4 a subscription with a line that cannot be taken is not taken in part', async t => {
  const subscriptions = async () => (await lookup('1042')).billing_subscriptions
  const had = (await subscriptions()).length
  const path = await file(
    'in-part.csv',
    `id,company.number,currency,product,price,unit_price,quantity
sub_7,1042,eur,prod_base,price_b,4900,1
sub_7,1042,eur,prod_seats,price_s,500,many
sub_7,1042,eur,prod_seats,price_t,500,2
sub_8,1042,eur,prod_base,price_b,4900,1,surplus
sub_8,1042,eur,prod_seats,price_s,500,1
`,
  )
  const ran = await run([path, '--kind', 'subscriptions'])
  t.match(ran.said, 'subscriptions: 0 made, 0 changed, 0 unchanged, 2 rejected')
  t.match(await rejectsOf(path), [
    {
      line: 2,
      member: 'quantity',
      error: /^line 3: quantity: "many" is no whole number/,
      text: /1\nsub_7.*many\nsub_7/,
    },
    { line: 5, error: /8 cells where the header has 7/, text: /surplus\nsub_8/ },
  ])
  t.equal((await subscriptions()).length, had)
})
