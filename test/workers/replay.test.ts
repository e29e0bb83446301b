// Draws that stand in rows, draws that stand in the fact, and both in one journal, leave the same accounts when replayed.
import t from 'tap'
import { apply, newCompany } from '../../src/core/company/company.js'
import { encodeCompany } from '../../src/core/company/state.js'
import type { Effect } from '../../src/core/model/message.js'
import { encodeId } from '../../src/core/values/id.js'
import { openFileJournal } from '../../src/journal/file-journal.js'
import { type NewRecord, RecordFlag } from '../../src/journal/journal.js'
import { factBytes } from '../../src/journal/records/fact-bytes.js'
import { drawRows } from '../../src/journal/records/ledger-rows.js'
import { Actors } from '../../workers/shard/actors.js'
import { replayTail } from '../../workers/shard/records/replay.js'

const env = 'env_23456789ABC'
const c = 'bcrd_23456789ABC'
const id = encodeId('comp_', 1, 2)
const at = 1_773_568_800_000
const grant = (seq: number, q: number | string): Effect => ({
  t: 'credit_grant',
  c,
  seq,
  at,
  g: { reason: 'purchased', q },
})

/** Drawn from one grant, from two, for an event of an hour ago, with a rest, and by nobody. */
const given: readonly (readonly [number, readonly Effect[]])[] = [
  [at, [grant(1, 2_000_000_000), grant(2, '12345678901234567890')]],
  [at + 1, [{ t: 'credit_draw', c, seq: 3, at: at + 1, e: 'evt_1', s: [[1, 500_000_000, 1_500_000_000]] }]],
  [
    at + 2,
    [
      {
        t: 'credit_draw',
        c,
        seq: 4,
        at: at - 3_600_000,
        now: at + 2,
        s: [
          [1, 1_500_000_000, 0],
          [2, 1, '12345678901234567889'],
        ],
      },
    ],
  ],
  [
    at + 3,
    [{ t: 'credit_draw', c, seq: 6, at: at + 3, s: [[2, '12345678901234567889', 0]], un: 3, u: 'user_1' }],
  ],
  [at + 4, [{ t: 'credit_draw', c, seq: 7, at: at + 4, s: [], un: 500_000_000 }]],
]

type Form = (at: number, fx: readonly Effect[]) => Pick<NewRecord, 'flags' | 'fact' | 'ledger'>

const fact = (at: number, fx: readonly Effect[], rows: boolean): Buffer =>
  factBytes({ k: 'c', id, env, at, fx: [...fx, { t: 'seen', atMs: at }] }, rows)

const draws = RecordFlag.ledger | RecordFlag.draws
const forms: Readonly<Record<string, Form>> = {
  'in rows': (at, fx) => {
    const ledger = drawRows(env, id, at, fx)
    return { flags: draws, ledger, fact: fact(at, fx, ledger !== '') }
  },
  'in the fact': (at, fx) => ({ flags: RecordFlag.ledger, fact: fact(at, fx, false) }),
  'in the JSON of 0.1.0': (at, fx) => ({
    flags: RecordFlag.ledger,
    fact: JSON.stringify({ k: 'c', id, env, at, fx: [...fx, { t: 'seen', atMs: at }] }),
  }),
}

t.test('CR-89 draws replayed from either form', async t => {
  const live = newCompany(id, env)
  for (const [at, fx] of given)
    for (const effect of [...fx, { t: 'seen', atMs: at } as const]) apply(live, effect, at)
  live.sequence = given.length
  live.timeMs = at + 4 // decision 22: replay tells the company's time
  const all = Object.values(forms)
  const ways = { ...forms, 'one after the other': null }
  for (const [name, form] of Object.entries(ways))
    for (const inMemory of [false, true]) {
      const directory = t.testdir()
      const { journal } = await openFileJournal({ directory })
      const records = given.map(([at, fx], i): NewRecord => {
        const written = (i === 0 ? forms['in the fact']! : (form ?? all[i % all.length]!))(at, fx)
        return { month: 0, row: '', ...written }
      })
      await journal.append(records)
      await journal.close()
      const actors = new Actors(10)
      const replay = { directory, actors, from: 0, only: null, load: async () => [], again: null, heard: 0 }
      if (inMemory) await replayTail({ ...replay, upTo: 1 })
      await replayTail({ ...replay, from: inMemory ? 1 : 0, upTo: given.length })
      const actor = actors.get(id)
      if (actor?.k !== 'c') throw new Error('no company')
      t.same(encodeCompany(actor.state), encodeCompany(live), `${name}${inMemory ? ', in memory' : ''}`)
    }
})
