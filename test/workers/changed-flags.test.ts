// FE-105: a change of flags alone is told from other changes of definitions, and only those flags' answers are let go. A law:
// a flag that is not told as changed is answered as before.
import t from 'tap'
import { compileCatalog } from '../../src/core/catalog.js'
import type { CatalogData, FlagDef } from '../../src/core/model/definitions.js'
import type { Question } from '../../src/core/model/message.js'
import { companyActor } from '../../workers/shard/actors.js'
import { changedFlags } from '../../workers/shard/changed-flags.js'
import { answerOf } from '../../workers/shard/checks/answer.js'
import { FlagChecks } from '../../workers/shard/checks/checks.js'
import { Random, times } from '../random.js'
import { begins, catalogOf, companyOf } from './companies.js'

const next = (data: CatalogData, over: Partial<CatalogData>): CatalogData =>
  structuredClone({ ...data, ...over, version: data.version + 1 })

t.test('each kind of change', async t => {
  const { data } = catalogOf(new Random(1))
  const [first, ...rest] = data.flags as [FlagDef, ...FlagDef[]]
  t.strictSame(changedFlags(data, next(data, {})), [], 'another version of the same')
  const flipped = { ...first, defaultValue: !first.defaultValue }
  t.strictSame(changedFlags(data, next(data, { flags: [flipped, ...rest] })), [first.key])
  const free = { ...first, id: 'flag_new', key: 'new', featureId: null }
  t.strictSame(changedFlags(data, next(data, { flags: [...data.flags, free] })), ['new'])
  const alone = next(data, { flags: [...data.flags, free] })
  t.strictSame(changedFlags(alone, data), ['new'], 'removed')
  const renamed = next(alone, { flags: [...data.flags, { ...free, key: 'newer' }] })
  t.strictSame(new Set(changedFlags(alone, renamed)), new Set(['new', 'newer']))
  t.equal(changedFlags(data, next(data, { fallbackPlanId: 'plan_other' })), null)
  t.equal(changedFlags(data, next(data, { credits: [] })), data.credits.length === 0 ? [] : null)
  t.equal(changedFlags(data, next(data, { watches: { types: [], featureIds: null, creditIds: null } })), null)
  const trait = { id: 'trt_new', entityType: 'company', name: 'new', traitType: 'string' } as const
  t.strictSame(changedFlags(data, next(data, { traits: [...data.traits, trait] })), [], 'a name seen first')
  const [known, ...others] = data.traits
  t.equal(changedFlags(data, next(data, { traits: others })), null, 'a trait removed')
  t.equal(changedFlags(data, next(data, { traits: [{ ...known!, traitType: 'date' }, ...others] })), null)
  const naming = next(data, { traits: others })
  t.equal(
    changedFlags(naming, next(naming, { traits: data.traits })),
    JSON.stringify({ ...naming, traits: [] }, (_, value) =>
      typeof value === 'bigint' ? `${value}` : value,
    ).includes(known!.id)
      ? null
      : [],
    'a trait that a rule names already',
  )
  const second = { ...first, id: 'flag_before', key: 'before', featureId: data.features[0]!.id }
  const behind = next(data, {
    flags: [...data.flags.filter(flag => flag.featureId !== second.featureId), second],
  })
  t.equal(
    changedFlags(behind, next(behind, { flags: [{ ...second, id: 'x', key: 'y' }, ...behind.flags] })),
    null,
  )
})

t.test('FE-105 a flag that is not told as changed is answered as before', async t => {
  const random = new Random()
  t.comment(`TOLLGATE_SEED=${random.seed}`)
  let compared = 0
  for (let run = 0; run < times(60); run++) {
    const before = catalogOf(random)
    const other = catalogOf(random)
    // flags of another catalog of the same features and traits in place of some
    const flags = before.data.flags.map((flag, i) =>
      random.chance(0.3) ? (other.data.flags[i] ?? flag) : flag,
    )
    const data = next(before.data, { flags })
    const changed = changedFlags(before.data, data)
    if (changed === null) continue
    const now = compileCatalog(data)
    const at = random.pick(begins)
    const actor = companyActor(companyOf(random, at), 0)
    for (const { key } of before.data.flags) {
      if (changed.includes(key)) continue
      const context = { companyGiven: true, userGiven: false, asked: '{}', userId: null, userTraits: null }
      const question: Question = { type: 'check', timed: true, flagKey: key, preflight: null, context }
      const ask = (catalog: typeof before) => answerOf(new FlagChecks('run'), catalog, actor, question, at)
      t.equal(ask(now), ask(before))
      compared++
    }
  }
  t.ok(compared > 0, `${compared} answers`)
})
