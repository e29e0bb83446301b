// Answers that are kept while their company uses what it may: one that still stands is what would be answered now, and
// use that does not matter to it leaves it standing.
import t from 'tap'
import { apply, decideCompany } from '../../src/core/company/company.js'
import { settle } from '../../src/core/live/company-accounts.js'
import type { Effect, Question } from '../../src/core/model/message.js'
import { itemsOf } from '../../src/core/usage/batch.js'
import { minuteMs } from '../../src/core/values/period.js'
import { unpack } from '../../src/wire/message-codec.js'
import { Changes } from '../../src/wire/version-counters.js'
import { companyActor } from '../../workers/shard/actors.js'
import { answerExpiresAt, answerOf, raiseChanged, rememberAnswer } from '../../workers/shard/checks/answer.js'
import { FlagChecks } from '../../workers/shard/checks/checks.js'
import { PlainUses } from '../../workers/shard/events/uses.js'
import { flagsOf, leavesTimeAlone } from '../../workers/shard/kinds.js'
import { Random } from '../random.js'
import { begins, catalogOf, companyOf, creditId, oneUse } from './companies.js'

function anyQuestion(random: Random): Question {
  const context = {
    companyGiven: true,
    userGiven: false,
    asked: '{"company":{"id":"acme"}}',
    userId: null,
    userTraits: null,
  }
  if (random.chance(0.1)) return { type: 'check_all', whole: false, context }
  const usage = random.below(4)
  const preflight = random.chance(0.7)
    ? null
    : { usage, eventUsage: null, creditCost: random.chance(0.3) ? { [creditId]: usage } : null }
  const flagKey = random.pick(['metered', 'paid', 'on', 'x', 'y', 'z'])
  return { type: 'check', timed: random.chance(0.9), flagKey, preflight, context }
}

/** An answer as it is kept: what was asked, and the numbers as they were before. */
interface Kept {
  readonly question: Question
  readonly text: unknown
  readonly change: number
  readonly uses: number
  readonly figures: boolean
  readonly sinceMs: number
  readonly untilMs: number
}

t.test('FE-105, FE-1 a cached answer beside use equals the answer computed now', async t => {
  const random = new Random()
  t.comment(`TOLLGATE_SEED=${random.seed}`)
  let [stood, survived, figuresSurvived, fell] = [0, 0, 0, 0]
  for (let round = 0; round < 600; round++) {
    const begunMs = random.pick(begins)
    let now = begunMs + random.below(minuteMs)
    let catalog = catalogOf(random)
    const changes = Changes.make(1)
    const plain = new PlainUses(changes)
    const [checks, apart] = [new FlagChecks('kept'), new FlagChecks('now')]
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
    let kept: Kept[] = []
    for (let step = 0; step < 60; step++) {
      now += random.pick([0, 1, 50, 1_000, 1_000, 20_000])
      if (random.chance(0.02)) now -= random.below(2 * minuteMs) // a test clock that is taken back
      settled()
      const chance = random.below(20)
      if (chance < 8) use()
      else if (chance < 17) {
        const question = anyQuestion(random)
        const [change, uses] = [changes.at(place), changes.usageVersion(place)]
        const text = answerOf(checks, catalog, actor, question, now)
        const untilMs = answerExpiresAt(actor, now)
        const figures = rememberAnswer(actor, question, checks.reads, now, changes)
        // of some the shard has heard more than who keeps answers; those that nobody keeps leave no trace
        if (figures !== null && random.chance(0.9))
          kept.push({ question, text, change, uses, figures, sinceMs: now, untilMs })
      } else if (chance === 17) {
        record([{ t: 'trait', name: 'limit', value: String(random.below(8)), atMs: now }])
      } else if (chance === 18) {
        // let go, and loaded again: the shard does not know what was answered
        actor = companyActor(state, 0)
        settled()
      } else if (random.chance(0.2)) {
        catalog = catalogOf(random)
        kept = [] // another era
        actor.settledUntilMs = 0
        settled()
      }
      const standing = kept.filter(
        one => one.change === changes.at(place) && (!one.figures || one.uses === changes.usageVersion(place)),
      )
      fell += kept.length - standing.length
      kept = standing
      for (const one of kept) {
        if (now < one.sinceMs || now >= one.untilMs) continue
        stood++
        const answered = answerOf(apart, catalog, actor, one.question, now)
        if (answered !== one.text) t.equal(answered, one.text, JSON.stringify(one.question))
        if (chance >= 8) continue
        if (one.figures) figuresSurvived++
        else survived++
      }
    }
  }
  t.ok(stood > 20_000 && fell > 5_000, `${stood} answers looked at again, ${fell} fell`)
  t.ok(survived > 4_000, `${survived} stood beside a use`)
  t.equal(figuresSurvived, 0, 'none that shows figures')
})
