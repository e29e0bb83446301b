// Roles of people in the console: which one counts for a request.
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
