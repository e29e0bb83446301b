// The parts that the data stream sends of a company add up to the whole company, whatever changes in between and for any
// reader: use, traits, grants, plans, definitions, time, and an actor that was unloaded meanwhile.
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { apply, decideCompany } from '../../src/core/company/company.js'
import { engineCompany } from '../../src/core/evaluator/engine-shapes.js'
import { settle } from '../../src/core/live/company-accounts.js'
import { LiveCompany } from '../../src/core/live/live-company.js'
import type { Effect } from '../../src/core/model/message.js'
import { itemsOf } from '../../src/core/usage/batch.js'
import { minuteMs } from '../../src/core/values/period.js'
import { jsonText } from '../../src/json.js'
import { unpack } from '../../src/wire/message-codec.js'
import { readParts } from '../../src/wire/snapshot-parts.js'
import { Changes } from '../../src/wire/version-counters.js'
import { companyActor } from '../../workers/shard/actors.js'
import { answerOf, raiseChanged } from '../../workers/shard/checks/answer.js'
import { FlagChecks } from '../../workers/shard/checks/checks.js'
import { PlainUses } from '../../workers/shard/events/uses.js'
import { flagsOf, leavesTimeAlone } from '../../workers/shard/kinds.js'
import { Random, times } from '../random.js'
import { begins, catalogOf, companyOf, creditId, oneUse } from './companies.js'

/** A node's stream as reader, with the version numbers of its last request. */
class Asker {
  mark = ''
  change = -1
  atMs = 0
  untilMs = 0
  catalog: unknown = null
  members = new Map<string, string>()
  metrics = new Map<string, string>()
  wholes = 0
  /** Length of the last answer, characters. */
  length = 0

  take(text: string): void {
    const { mark, isWhole, untilMs, members, metrics } = readParts(text)
    if (isWhole) {
      this.wholes++
      this.members.clear()
      this.metrics.clear()
    }
    for (const [name, member] of members) this.members.set(name, member)
    for (const metric of metrics) this.metrics.set(metric.slice(0, metric.indexOf(',"value":')), metric)
    this.mark = mark
    this.untilMs = untilMs
    this.length = text.length
  }

  /** The client's present state. */
  get held(): unknown {
    const members = [...this.members].map(([name, text]) => [name, JSON.parse(text)] as const)
    return {
      ...Object.fromEntries(members),
      metrics: [...this.metrics.values()].map(text => JSON.parse(text)),
    }
  }
}

const byName = (metrics: readonly { event_subtype: string; period: string; month_reset: string }[]) =>
  [...metrics].sort((a, b) => (jsonText(a) < jsonText(b) ? -1 : 1))

const inOrder = (snapshot: unknown) => {
  const { metrics, ...rest } = snapshot as { readonly metrics: Parameters<typeof byName>[0] }
  return { ...rest, metrics: byName(metrics) }
}

t.test('decision 24 the parts that are told are the whole', async t => {
  const random = new Random()
  t.comment(`TOLLGATE_SEED=${random.seed}`)
  let [asked, wholes, short] = [0, 0, 0]
  for (let round = 0; round < times(200); round++) {
    const begunMs = random.pick(begins)
    let now = begunMs + random.below(minuteMs)
    let catalog = catalogOf(random)
    const changes = Changes.make(1)
    const plain = new PlainUses(changes)
    const checks = new FlagChecks('told')
    let actor = companyActor(companyOf(random, begunMs), 0)
    const { state } = actor
    const place = changes.placeOf(state.id)
    const record = (fx: readonly Effect[]) => {
      raiseChanged(actor, changes)
      for (const effect of fx) apply(state, effect, now)
      if (!leavesTimeAlone(state, fx, flagsOf(fx))) actor.settledUntilMs = 0
    }
    const settled = () => {
      if (now < actor.settledUntilMs) return
      const { effects, untilMs } = settle(state, catalog, now)
      if (effects.length > 0) record(effects)
      actor.settledUntilMs = untilMs
    }
    const use = () =>
      unpack(oneUse(random, state.id, now), request => {
        if (!('uses' in request)) throw new Error('no uses')
        plain.begin(request, catalog)
        if (plain.add(actor, request, request.from, request.at)) return
        const [{ m }] = itemsOf(request) as [ReturnType<typeof itemsOf>[number]]
        const decision = decideCompany(state, catalog, m, now)
        record('refused' in decision ? [] : decision.effects)
      })
    let grants = 1
    const others: readonly (() => void)[] = [
      () => record([{ t: 'trait', name: 'limit', value: String(random.below(8)), atMs: now }]),
      () => record([{ t: 'trait', name: 'limit', value: null, atMs: now }]),
      () =>
        record([
          {
            t: 'credit_grant',
            c: creditId,
            seq: ++grants,
            at: now,
            g: { reason: 'free', q: random.pick([1, 10 ** 9, 2 ** 52]), exp: now + random.below(90_000) },
          },
        ]),
      () => {
        // let go, and loaded again: the shard does not know what was told
        actor = companyActor(state, 0)
      },
      () => {
        catalog = catalogOf(random)
        actor.settledUntilMs = 0
      },
    ]
    const askers = [new Asker(), new Asker()]
    for (let step = 0; step < 60; step++) {
      now += random.pick([0, 1, 50, 1_000, 1_000, 20_000])
      if (random.chance(0.02)) now -= random.below(2 * minuteMs) // a test clock that is taken back
      settled()
      if (random.chance(0.5)) use()
      else if (random.chance(0.3)) random.pick(others)()
      settled()
      const asker = random.chance(0.8) ? askers[0]! : askers[1]!
      const { change, atMs, untilMs } = asker
      const isSame = change === changes.at(place) && asker.catalog === catalog
      const usedOnly = isSame && now >= atMs && now < untilMs
      asker.atMs = now
      asker.change = changes.at(place)
      asker.catalog = catalog
      const since = random.chance(0.05) ? '' : asker.mark
      const text = answerOf(checks, catalog, actor, { type: 'engine', since, usedOnly }, now)
      const before = asker.wholes
      asker.take(String(text))
      asked++
      if (asker.wholes > before) wholes++
      if (asker.length < 80) short++
      const whole = jsonText(engineCompany(new LiveCompany(state, catalog, now)))
      const [held, is] = [inOrder(asker.held), inOrder(JSON.parse(whole))]
      if (isDeepStrictEqual(held, is)) continue
      t.same(held, is)
      return
    }
  }
  t.comment(`${asked} asked, ${wholes} told whole, ${short} told nothing`)
  t.ok(wholes < asked / 2, 'mostly in parts')
  t.ok(short > asked / 20, 'nothing where nothing changed')
})
