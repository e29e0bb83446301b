// Flags of records, and effects that keep a company's next instant.
import t from 'tap'
import type { Company } from '../../src/core/model/company-state.js'
import type { Effect } from '../../src/core/model/message.js'
import { RecordFlag } from '../../src/journal/journal.js'
import { flagsOf, leavesTimeAlone } from '../../workers/shard/kinds.js'

const used: Effect = { t: 'used', subtype: 'x', quantity: 1, atMs: 1 }
const draw: Effect = { t: 'credit_draw', c: 'bcrd_1', seq: 2, at: 1, s: [[1, 5, 5]] }
const grant: Effect = { t: 'credit_grant', c: 'bcrd_1', seq: 1, at: 1, g: { reason: 'free', q: 10 } }
const { identity, ledger, draws } = RecordFlag

t.test('draws alone have a flag of their own: nothing of them shows in Postgres', async t => {
  t.equal(flagsOf([used]), 0)
  t.equal(flagsOf([used, draw]), ledger | draws)
  t.equal(flagsOf([draw, grant]), ledger)
  t.equal(flagsOf([grant]), ledger)
  t.equal(flagsOf([draw, { t: 'named', name: 'x' }]), ledger | draws | identity)
})

t.test('CR-53, CR-76 a draw brings nothing earlier, unless credits are owed past zero', async t => {
  const company = (overdraft: object | null) =>
    ({ credits: new Map([['bcrd_1', { overdraft }]]) }) as unknown as Company
  const leaves = (of: Company, fx: readonly Effect[]) => leavesTimeAlone(of, fx, flagsOf(fx))
  t.equal(leaves(company(null), [used]), true)
  t.equal(leaves(company(null), [used, draw]), true)
  t.equal(leaves(company({}), [used, draw]), false)
  t.equal(leaves(company(null), [draw, grant]), false)
  t.equal(leaves(company(null), [draw, { t: 'named', name: 'x' }]), false)
})
