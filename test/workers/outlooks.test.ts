// The outlooks of many companies, as their shard gathers them: in memory, at rest, gone, and leaving memory meanwhile.
import t from 'tap'
import { type PlanOutlooks, readOutlooks } from '../../src/core/company/outlook.js'
import { encodeCompany } from '../../src/core/company/state.js'
import type { OutlookQuestion } from '../../src/core/model/message.js'
import { snapshotText } from '../../src/journal/records/snapshot-text.js'
import { decodeReplies, Replies } from '../../src/wire/message-codec.js'
import { Actors, companyActor } from '../../workers/shard/actors.js'
import { Catalogs } from '../../workers/shard/catalogs.js'
import { tellOutlooks } from '../../workers/shard/outlooks.js'
import { snapshotLine } from '../../workers/shard/snapshots/snapshots.js'
import { catalogData, company, entitlement, feature, holding, plan } from '../core/make.js'

const limited = (limit: number) => [entitlement('calls', { valueType: 'numeric', valueNumeric: limit })]

const catalogs = new Catalogs()
catalogs.hold(
  catalogData({
    features: [feature('calls')],
    plans: [plan('plan_1', limited(100)), plan('plan_2', limited(200))],
  }),
)
const question: OutlookQuestion = {
  wanted: {
    type: 'migrate_plan',
    migrationId: '',
    planId: 'plan_1',
    toPlanId: 'plan_2',
    versionId: 'plan_2_v1',
    fromVersionIds: null,
    when: 'now',
    priceIds: {},
    commitments: [],
    cause: { action: 'migration', actorType: 'system', apiKeyId: null },
  },
  draft: null,
}
const state = (id: string) => company({ id, plan: holding('plan_1') })

/** A shard with companies in memory, and others at rest. */
function shardOf(here: readonly string[], atRest: readonly string[], finding: () => void = () => {}) {
  const actors = new Actors(1_000)
  for (const id of here) actors.addAbsent(companyActor(state(id), 0))
  const asked: string[][] = []
  const turns: number[] = []
  const replies = new Replies()
  const shard = {
    actors,
    catalogs,
    coldLoads: 0,
    task: { options: { generation: 'g' } },
    storage: {
      snapshots: {
        find: async (ids: readonly string[]) => {
          asked.push([...ids])
          finding()
          const rows = ids
            .filter(id => atRest.includes(id))
            .map(id => ({ id, kind: 'c' as const, environmentId: 'env_1', generation: 'g', sequence: 1 }))
          return [
            Buffer.from(
              rows
                .map(row => snapshotLine({ ...row, state: snapshotText(encodeCompany(state(row.id))) }))
                .join('\n'),
            ),
          ]
        },
      },
    },
    loadLost: async () => {},
    settle: () => {},
    turn: (work: () => void) => {
      turns.push(performance.now())
      work()
    },
    tellReply: (write: (replies: Replies) => void) => write(replies),
  }
  /** The reply, when it is there. */
  const outlooks = async (companyIds: readonly string[]): Promise<PlanOutlooks> => {
    tellOutlooks(shard, { n: 7, env: 'env_1', at: 1_000, companyIds, question })
    while (replies.isEmpty) await new Promise(setImmediate)
    let text = ''
    const failed = (n: number, reason: string) => {
      throw new Error(`${n} ${reason}`)
    }
    const answered = (n: number, reply: unknown) => {
      t.equal(n, 7)
      text = reply as string
    }
    decodeReplies(replies.take(), { answered, cacheable: answered, refused: failed, failed })
    return readOutlooks(text)
  }
  return { shard, actors, asked, turns, outlooks }
}

const outcomes = ({ outlooks }: PlanOutlooks) => outlooks.map(one => one?.outcome ?? null)

t.test(
  'companies in memory and at rest are answered in the order asked; those at rest are read at once',
  async t => {
    const { asked, outlooks, actors } = shardOf(['a', 'c'], ['b', 'd'])
    const found = await outlooks(['d', 'a', 'nobody', 'b', 'c'])
    t.same(outcomes(found), ['completed', 'completed', null, 'completed', 'completed'])
    t.same(asked, [['d', 'nobody', 'b']])
    t.equal(found.changes.length, 1, 'they share their changes')
    t.match(JSON.parse(found.changes[0]!), [
      { featureId: 'calls', isGain: true, before: { limit: '100' }, after: { limit: '200' } },
    ])
    t.ok(actors.get('b'), 'they stay in memory')
    t.same(outcomes(await outlooks(['b', 'd'])), ['completed', 'completed'])
    t.equal(asked.length, 1)
  },
)

t.test('a company is read again if companies left memory since its snapshot was read', async t => {
  let finds = 0
  const { actors, asked, outlooks } = shardOf(['a'], ['a', 'b'], () => {
    // an actor leaves while the first statement runs
    if (++finds === 1) actors.departures++
  })
  t.same(outcomes(await outlooks(['a', 'b'])), ['completed', 'completed'])
  t.same(asked, [['b'], ['b']])
})

t.test('other requests come in between', async t => {
  const ids = Array.from({ length: 4_000 }, (_, i) => `comp_${i}`)
  const { outlooks, turns } = shardOf(ids, [])
  let between = 0
  let isDone = false
  const other = () => {
    between++
    if (!isDone) setImmediate(other)
  }
  setImmediate(other)
  t.equal(outcomes(await outlooks(ids)).filter(one => one === 'completed').length, 4_000)
  isDone = true
  t.ok(turns.length > 1, 'it takes several turns')
  t.ok(between >= turns.length - 1, 'and the loop goes round between them')
})

t.test('a store that is away is told', async t => {
  const { outlooks } = shardOf([], ['a'], () => {
    throw new Error('away')
  })
  await t.rejects(outlooks(['a']), /7 store_away/)
})
