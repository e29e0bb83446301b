// The law of the audit log's chain: every row is in it once, whoever wrote it and whatever came in between.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { AuditLog } from '../../../src/account/audit/audit.js'
import { appendRows, ChainReader, chainedRows, extendChain } from '../../../src/account/audit/chain.js'
import { type RequestedChange, rowOf } from '../../../src/account/audit/row.js'
import { openPostgres } from '../../../src/storage/postgres.js'
import { Random, times } from '../../random.js'
import { silent, startStores } from '../../stores.js'

const { sql, postgres } = await startStores(t)
const other = openPostgres(postgres)
t.teardown(() => other.end())
await sql`insert into accounts (id, name, created_at, updated_at) values ('acct_chain', 'Chain', now(), now())`

const key = {
  id: 'apik_chain',
  accountId: 'acct_chain',
  name: '',
  description: null,
  kind: 'secret',
  scopes: [],
  readonly: false,
  environmentId: null,
  rateLimitPercent: null,
} as const

const change = (body: string, accountId: string = key.accountId): RequestedChange => ({
  id: randomUUID(),
  kind: 'change',
  remoteIp: '127.0.0.1',
  userAgent: 'a\u00e9\ud83d\ude00\ud83d b',
  requestId: 'req_1',
  key: { ...key, accountId },
  environmentId: null,
  method: 'POST',
  path: '/companies',
  parameters: [],
  url: '/companies?q=\u00fc',
  requestBody: body,
  status: 200,
  responseBody: `{"data":{"id":"comp_1","name":${JSON.stringify(body)}}}`,
  startedAtMs: 1_700_000_000_123,
  endedAtMs: 1_700_000_000_999,
})

const bodies = [
  '{"a":1}',
  '{"a":"\\u0000"}',
  '"\\ud83d"',
  'no JSON \\',
  '{"n":9007199254740993}',
  '\t\n"',
  '{}',
]

/** Read the whole chain. Throws where a row does not follow from the one before it. */
async function verified(): Promise<readonly { readonly id: string; readonly resp_body: string | null }[]> {
  const rows = await chainedRows(sql, 0, 100_000)
  const reader = new ChainReader()
  for (const row of rows) {
    const fault = reader.fault(row)
    if (fault !== null) throw new Error(fault)
  }
  return rows
}

t.test('security 10 each row is in the chain once, from two writers, with changes in between', async t => {
  const random = new Random()
  const logs = [new AuditLog(sql, silent, key.accountId), new AuditLog(other, silent, key.accountId)]
  const expected = new Set((await verified()).map(({ id }) => id))
  const open: Promise<unknown>[] = []
  for (let step = 0; step < times(300); step++) {
    const log = random.pick(logs)
    const one = change(random.pick(bodies))
    switch (random.below(6)) {
      case 0: // a change of definitions: its row first, then its response
        expected.add(one.id)
        open.push(sql.begin(tx => log.within(tx as never, one)).then(() => log.note(one)))
        break
      case 1: {
        // one that fails leaves the row of its refusal
        expected.add(one.id)
        const failing = sql.begin(async tx => {
          await log.within(tx as never, one)
          throw new Error('undone')
        })
        open.push(failing.catch(() => log.note({ ...one, status: 500, responseBody: '{"error":"x"}' })))
        break
      }
      case 2: // a transaction that ends after its caller heard an answer
        expected.add(one.id)
        open.push(
          sql.begin(async tx => {
            await log.within(tx as never, one)
            log.note(one)
            await tx`select pg_sleep(${random.below(20) / 1_000})`
          }),
        )
        break
      case 3:
        open.push(log.flush())
        break
      default:
        expected.add(one.id)
        log.note(one)
        log.note(change('{}', 'acct_gone'))
    }
    if (random.chance(0.1)) await Promise.all(open.splice(0))
  }
  await Promise.all(open)
  // a batch that met a change not yet committed is tried again
  for (const end = Date.now() + 60_000; Date.now() < end; ) {
    for (const log of logs) await log.flush()
    const [{ count }] = await sql<
      [{ count: number }]
    >`select count(*)::int as count from audit_logs where seq is null`
    if (count === 0 && (await verified()).length === expected.size) break
  }
  const rows = await verified()
  t.same(rows.map(({ id }) => id).sort(), [...expected].sort(), 'all of them, and no other')
  t.ok(
    rows.every(({ resp_body }) => resp_body !== null),
    'with their responses',
  )
})

t.test('security 10 a row with its response is written once, with its place', async t => {
  await sql.unsafe(`
    create function refuse_again() returns trigger language plpgsql as $$
      begin raise exception 'a second write'; end $$;
    create trigger refuse_again before update on audit_logs for each row execute function refuse_again()`)
  t.teardown(() => sql.unsafe('drop trigger refuse_again on audit_logs; drop function refuse_again()'))
  const before = (await verified()).length
  const rows = Array.from({ length: 3 }, () => rowOf(change('{}')))
  t.same(await appendRows(sql, rows), [])
  const again = await appendRows(sql, rows)
  t.same(
    again.map(({ id }) => id),
    rows.map(({ id }) => id),
    'again: they are stored already, as after an answer that was lost',
  )
  await extendChain(sql, true)
  t.equal((await verified()).length, before + 3)
})
