// Tokens of companies' pages: what their look-ups cost.
import { setImmediate as turn } from 'node:timers/promises'
import type { Sql } from 'postgres'
import t from 'tap'
import { AccessTokens } from '../../src/account/access-tokens.js'
import type { Keys } from '../../src/account/key-types.js'

const value = `tat_${'a'.repeat(43)}`

/** Tokens whose statements a test answers, in the order in which they began. */
function tokensOf() {
  const statements: ((rows: readonly object[] | Error) => void)[] = []
  const sql = () =>
    new Promise((resolve, reject) => {
      statements.push(rows => (rows instanceof Error ? reject(rows) : resolve(rows)))
    })
  const keys = { hash: (text: string) => Buffer.from(text), byId: () => null }
  const tokens = new AccessTokens({
    sql: sql as unknown as Sql,
    keys: keys as unknown as Keys,
    wallMs: () => Date.UTC(2026, 0),
  })
  return { tokens, statements }
}

/** The row of a token that a member made. */
const row = (roles: object) => ({
  id: 'tat_1',
  account_id: 'acct_1',
  environment_id: 'env_1',
  company_id: 'comp_1',
  api_key_id: 'memb_1',
  expires_at: new Date(Date.UTC(2026, 1)),
  member: { id: 'memb_1', name: 'M', email: 'm@example.com', role: null, console_roles: roles },
})

t.test('security 1 a token that is asked for again and again has one statement under way', async t => {
  const { tokens, statements } = tokensOf()
  const first = tokens.find(value)
  const others = Array.from({ length: 100 }, () => tokens.find(value))
  await turn()
  t.equal(statements.length, 1)
  statements[0]!([row({ '*': 'admin' })])
  t.match(await first, { companyId: 'comp_1' })
  await turn()
  t.equal(statements.length, 2)
  statements[1]!([row({ '*': 'viewer' })])
  for (const one of others) t.equal(await one, null, 'told by a statement that began after the question')
  const last = tokens.find(value)
  await turn()
  t.equal(statements.length, 3, 'a token of a member is looked up each time')
  statements[2]!([])
  t.equal(await last, null)
})

t.test('security 1 a statement that fails is the failure of those who asked for it alone', async t => {
  const { tokens, statements } = tokensOf()
  const first = tokens.find(value)
  const second = tokens.find(value)
  const failed = t.rejects(first, { message: 'away' })
  statements[0]!(new Error('away'))
  await failed
  await turn()
  statements[1]!([row({ '*': 'admin' })])
  t.match(await second, { companyId: 'comp_1' })
})
