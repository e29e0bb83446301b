// Sessions of the console: which role counts for a request, and what look-ups cost.
import { setImmediate as turn } from 'node:timers/promises'
import type { Sql } from 'postgres'
import t from 'tap'
import type { Keys } from '../../src/account/key-types.js'
import { Sessions, type SignedIn } from '../../src/account/sessions.js'
import type { RoleMap } from '../../src/core/console-role.js'

const [first, second] = ['env_1', 'env_2'] as const
const keys = { environments: () => [{ id: first }, { id: second }] } as unknown as Keys
const sessions = new Sessions({ sql: null as never, keys, wallMs: () => 0 })

/** The role of a request, and the environment to which it is bound. */
function judged(roles: RoleMap, environmentId: string): readonly [string | null, string | null] {
  const member = { id: 'memb_1', name: 'Kim', email: null, roles }
  const signedIn = { accountId: 'acct_1', records: new Map() } as unknown as SignedIn
  const role = sessions.roleFor(member, 'acct_1', environmentId, false)
  return [role, role && sessions.recordOf(signedIn, member, role, environmentId).environmentId]
}

t.test('security 40: a request that names no environment has the role of the one it is bound to', async t => {
  t.same(judged({ '*': 'admin', [first]: 'viewer' }, ''), ['viewer', first])
  t.same(judged({ '*': 'admin', [second]: 'viewer' }, ''), ['admin', first])
  t.same(judged({ '*': 'admin', [second]: 'viewer' }, second), ['viewer', second])
  t.same(judged({ [second]: 'editor' }, ''), ['editor', second])
  t.same(judged({ [second]: 'editor' }, first), [null, null])
  t.same(judged({ '*': 'support' }, ''), ['support', null])
  t.same(judged({}, ''), [null, null])
})

const cookie = `s_${'a'.repeat(43)}`

/** Sessions whose statements a test answers, in the order in which they began, and whose time it sets. */
function asked() {
  const statements: ((rows: readonly object[] | Error) => void)[] = []
  const sql = () =>
    new Promise((resolve, reject) => {
      statements.push(rows => (rows instanceof Error ? reject(rows) : resolve(rows)))
    })
  const time = { ms: Date.UTC(2026, 0) }
  const sessions = new Sessions({
    sql: sql as unknown as Sql,
    keys: { hash: (text: string) => Buffer.from(text) } as unknown as Keys,
    wallMs: () => time.ms,
  })
  return { sessions, statements, time }
}

/** The row of a session of a member. */
const rowOf = (roles: RoleMap) => ({
  id: 'sess_1',
  account_id: 'acct_1',
  member_id: 'memb_1',
  api_key_id: null,
  expires_at: new Date(Date.UTC(2026, 0, 1, 12)),
  name: 'Kim',
  email: null,
  role: null,
  console_roles: roles,
})

t.test('security 40: a session that is asked for many times at once has one statement under way', async t => {
  const { sessions, statements, time } = asked()
  const first = sessions.find(cookie)
  const others = Array.from({ length: 100 }, () => sessions.find(cookie))
  await turn()
  t.equal(statements.length, 1)
  statements[0]!([rowOf({ '*': 'admin' })])
  t.match(await first, { member: { roles: { '*': 'admin' } } })
  await turn()
  t.equal(statements.length, 2)
  statements[1]!([rowOf({ '*': 'viewer' })])
  for (const one of others)
    t.match(
      await one,
      { member: { roles: { '*': 'viewer' } } },
      'by a statement that began after the question',
    )
  t.notOk(sessions.find(cookie) instanceof Promise, 'it is in memory')
  time.ms += 5_000
  const later = Array.from({ length: 100 }, () => sessions.find(cookie))
  await turn()
  t.equal(statements.length, 3, 'one that is to be read again, too')
  statements[2]!(new Error('away'))
  await turn()
  t.match(await later[0], { id: 'sess_1' }, 'read lately')
  statements[3]!([])
  for (const one of later.slice(1)) t.equal(await one, null)
  t.equal(statements.length, 4)
})

t.test('security 40: what is read while a member changes or signs out is not kept', async t => {
  const { sessions, statements } = asked()
  const before = sessions.find(cookie)
  sessions.forgetMember('memb_1')
  statements[0]!([rowOf({ '*': 'admin' })])
  await before
  const after = sessions.find(cookie)
  t.ok(after instanceof Promise, 'read again')
  const ended = sessions.end(cookie)
  statements[1]!([rowOf({ '*': 'viewer' })])
  await after
  const during = sessions.find(cookie)
  t.ok(during instanceof Promise, 'read again')
  statements[3]!([rowOf({ '*': 'viewer' })])
  await during
  statements[2]!(Object.assign([], { count: 1 }))
  t.equal(await ended, true)
  t.ok(sessions.find(cookie) instanceof Promise, 'nor kept from while the session was removed')
})
