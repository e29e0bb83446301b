// Cost of a draw on the shard: batches of plain events of 1 000 companies with 20 grants each, counted, drawn,
// written and framed, against the same batches of a feature without credits. CPU caches are swept between batches, as
// the other threads of a service do.
import { compileCatalog } from '../../src/core/catalog.js'
import { applyCredit } from '../../src/core/credits/ledger.js'
import { emptyAccount } from '../../src/core/model/account-state.js'
import type { Company } from '../../src/core/model/company-state.js'
import { UsageBatchWriter } from '../../src/core/usage/batch.js'
import { encodeId } from '../../src/core/values/id.js'
import { Group } from '../../src/journal/frame.js'
import { Encoder, unpack } from '../../src/wire/message-codec.js'
import { Changes } from '../../src/wire/version-counters.js'
import {
  catalogData,
  company,
  credit,
  entitlement,
  feature,
  holding,
  plan,
  planVersion,
} from '../../test/core/make.js'
import { Actors } from '../../workers/shard/actors.js'
import { PlainUses } from '../../workers/shard/events/uses.js'
import { median } from '../median.js'

const env = 'env_23456789ABC'
const creditId = 'bcrd_23456789AB'
const companies = 1_000
const grantsEach = 20
const batchSize = 500
const batches = 8
const warmUps = 50
const rounds = 400
const nowMs = Date.UTC(2026, 2, 15, 10)
/** Larger than a core's own cache. */
const swept = Buffer.alloc(4 << 20)

const drawing = [entitlement('paid', { valueType: 'credit', valueCreditId: creditId, consumptionRate: 1.5 })]
const catalog = compileCatalog(
  catalogData({
    environmentId: env,
    features: [feature('paid'), feature('plain')],
    credits: [credit(creditId)],
    plans: [plan('plan_p', drawing, { versions: [planVersion('plan_p_v1', { entitlements: drawing })] })],
  }),
)

function companyOf(i: number): Company {
  const id = encodeId('comp_', i * 7_919, i * 104_729)
  const account = emptyAccount(id, creditId)
  for (let n = 0; n < grantsEach; n++)
    applyCredit(account, {
      t: 'credit_grant',
      c: creditId,
      seq: account.sequence + 1,
      at: nowMs - 1_000 + n,
      g: { reason: 'purchased', q: 4_000_000_000_000_000 },
    })
  return company({ id, environmentId: env, plan: holding('plan_p'), credits: [[creditId, account]] })
}

const actors = new Actors(companies)
const ids: string[] = []
for (let i = 0; i < companies; i++) {
  const state = companyOf(i)
  ids.push(state.id)
  const actor = actors.make('c', state.id, env)
  Object.assign(actor.state, state)
}

function bodies(event: string) {
  return Array.from({ length: batches }, (_, batch) => {
    const rows = new UsageBatchWriter()
    let text = ''
    for (let i = 0; i < batchSize; i++) {
      const companyId = ids[(i * batches + batch) % companies]!
      const body = `{"event":"${event}","company":{"slug":"company-${i}"},"quantity":1}`
      const bodyAt = text.length
      text += body
      rows.add({
        bodyAt,
        bodyLength: body.length,
        nameAt: bodyAt + 10,
        nameLength: event.length,
        keyAt: 0,
        keyLength: 0,
        quantity: 1,
        idHigh: i * 7_907,
        idLow: i * 6_577,
        sentAtMs: null,
        companyId,
        userId: null,
      })
    }
    const packing = new Encoder()
    packing.add(batch, { at: nowMs, env, apiKeyId: 'apik_3mK9tQxYzAb', text, rows })
    return structuredClone(packing.take())
  })
}

const plain = new PlainUses(Changes.make(1))
const group = new Group()

/** One batch, ns an event. */
function turn(cells: ReturnType<typeof bodies>[number]): number {
  for (let i = 0; i < swept.length; i += 64) swept[i]!++
  const begunMs = performance.now()
  actors.tick++
  unpack(cells, request => {
    if (!('uses' in request)) throw new Error('no uses')
    const found = plain.actorsOf(request, id => actors.get(id))!
    plain.begin(request, catalog)
    for (let i = 0; i < request.count; i++) {
      const actor = found[i]!
      if (actor.k === 'u' || !plain.add(actor, request, request.from + i, request.at))
        throw new Error('not plain')
      actors.dirty.add(actor)
    }
  })
  group.begin(1)
  group.addFramed(plain.take())
  group.seal()
  plain.clear()
  return ((performance.now() - begunMs) * 1e6) / batchSize
}

const kinds = ['plain', 'paid'].map(event => ({ event, cells: bodies(event), times: [] as number[] }))
for (let round = -warmUps; round < rounds; round++)
  for (const { cells, times } of kinds)
    for (const one of cells) {
      const ns = turn(one)
      if (round >= 0) times.push(ns)
    }
const [free, paid] = kinds.map(({ times }) => median(times)) as [number, number]
console.log(`nothing to pay ${free.toFixed(0)} ns an event, paid with credits ${paid.toFixed(0)}`)
console.log(`a draw costs ${(paid - free).toFixed(0)} ns: ${(paid / free).toFixed(2)} times as much`)
