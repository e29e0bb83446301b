// Checks of every flag at once, written as text without an object for each result: what definitions alone say of a
// result is a text made once, and only the company's figures are written anew. Byte for byte the text of
// single checks joined (test/laws/flag.test.ts), in less than half of the time (bench/notes/2026-11-25-answers-of-all-flags.md).
import type { Catalog } from '../catalog.js'
import {
  type CompiledEntitlement,
  consumptionRateOf,
  isMeasured,
  limitOf,
  metersQuantities,
  nothingReported,
  resolveEntitlement,
  shownFigures,
  softLimitOf,
  usageOf,
  writeEntitlement,
} from '../entitlements/entitlement.js'
import { contextReason, decideIn, outcomeOf, quoted, unusedJson } from '../flags/flag.js'
import { LiveCompany } from '../live/live-company.js'
import type { CreditFigures } from '../model/account-state.js'
import type { Company } from '../model/company-state.js'
import type { EntitlementReport } from '../model/entitlement-report.js'
import type { CheckContext } from '../model/requests.js'
import {
  type Check,
  type CompanyFacts,
  type FiguresText,
  nothingAsked,
  type Outcome,
  type UsageSource,
  type UserFacts,
} from '../rules/rule.js'
import type { Quantity } from '../values/quantity.js'
import { instantText, quotedName } from '../values/quoted.js'
import { strictInteger, type TraitRef } from '../values/trait.js'
import { creditsOf, planOf, writeContext } from './check.js'

/**
 * Check every flag of the environment for one context, and write the answer.
 *
 * company   null, or one that does not exist: evaluated without company.
 * context   the keys in the request: they give the reasons of checks in which nothing matched (FE-76).
 * nowMs     the environment's present, epoch ms.
 * outcomes  becomes the outcomes of the flags, in their order.
 * returns   `CheckFlags`, serialised.
 * source    FE-90, FE-91.
 */
export function tellAll(
  catalog: Catalog,
  company: Company | null,
  user: UserFacts | null,
  context: Pick<CheckContext, 'companyGiven' | 'userGiven'>,
  nowMs: number,
  outcomes: Outcome[],
): string {
  const { flags } = catalog
  const facts = company?.exists ? new LiveCompany(company, catalog, nowMs) : null
  const check: Check = { company: facts, user, asked: nothingAsked }
  const without = contextReason(context, facts !== null, user !== null)
  const failed = `,"company_id":${quoted(facts?.id ?? null)},"user_id":${quoted(user?.id ?? null)},"error":null`
  const unused = failed + unusedJson
  const unusedNext = `${unused}},{`
  outcomes.length = flags.length
  let json = flags.length === 0 ? '{"flags":[' : '{"flags":[{'
  for (let i = 0; i < flags.length; i++) {
    const flag = flags[i]!
    const rule = decideIn(flag, facts, check)
    const outcome = rule === null ? flag.unmatched(without) : outcomeOf(flag, rule)
    outcomes[i] = outcome
    json += outcome.json
    const { feature } = flag
    const entitlement = facts === null || feature === null ? null : resolveEntitlement(facts, feature)
    const source = rule === null || facts === null ? null : rule.usage
    const isLast = i === flags.length - 1
    if (source === null && entitlement === null) {
      json += isLast ? unused : unusedNext
      continue
    }
    if (source === null) json += unused
    else {
      rule!.usageText ??= new UsageText(source)
      json += failed
      json += rule!.usageText.of(facts!)
    }
    if (entitlement !== null) {
      if (entitlement.text?.flagKey !== flag.key)
        entitlement.text = new EntitlementText(entitlement, flag.key)
      json += entitlement.text.of(facts!)
    }
    if (!isLast) json += '},{'
  }
  json += flags.length === 0 ? ']' : '}]'
  return json + writeContext(facts && planOf(facts), facts && creditsOf(facts))
}

/** A text that is made again when the instant in it is another one. */
class TextOfInstant {
  private ms: number | null = Number.NaN
  private text = ''

  constructor(private readonly write: (ms: number | null) => string) {}

  at(ms: number | null): string {
    if (ms !== this.ms) {
      this.ms = ms
      this.text = flat(this.write(ms))
    }
    return this.text
  }
}

/** The same text in one piece: it is joined again and again. */
const flat = (text: string): string => Buffer.from(text).toString()

/** The figures of the rule that decided (FE-71), as `result` finds them and `writeCheck` writes them. */
class UsageText implements FiguresText {
  /** Up to the usage, where the allocation is the same for all. */
  private readonly before: string
  private readonly after: TextOfInstant

  constructor(private readonly source: UsageSource) {
    this.before = `,"feature_allocation":${source.literal},"feature_usage":`
    const [event, period] =
      source.kind === 'metric' ? [quotedName(source.subtype), `"${source.period}"`] : ['null', 'null']
    this.after = new TextOfInstant(ms => {
      const reset = ms === null ? 'null' : `"${instantText(ms)}"`
      return `,"feature_usage_event":${event},"feature_usage_period":${period},"feature_usage_reset_at":${reset}`
    })
  }

  of(company: CompanyFacts): string {
    const { source } = this
    if (source.kind === 'trait')
      return this.allocation(company) + (integerOf(company, source.trait) ?? 0) + this.after.at(null)
    const { subtype, period, monthReset } = source
    const usage = company.counter(subtype, period, monthReset)
    return this.allocation(company) + usage + this.after.at(company.resetsAt(period, monthReset))
  }

  private allocation(company: CompanyFacts): string {
    const { comparison } = this.source
    const limit = comparison === null ? null : integerOf(company, comparison)
    return limit === null ? this.before : `,"feature_allocation":${limit},"feature_usage":`
  }
}

/** A company's trait as an integer (FE-68); null where it has none. */
function integerOf(company: CompanyFacts, trait: TraitRef): Quantity | null {
  const text = trait.entityType === 'company' ? company.traitText(trait) : null
  return text === null ? null : strictInteger(text)
}

/** The report of an entitlement and its name (EN-50), as `reportEntitlement` finds it and `writeEntitlement` writes it. */
class EntitlementText implements FiguresText {
  /** Up to the first figure. */
  private readonly head: string
  /** From the last figure on. */
  private readonly end: TextOfInstant
  /** Whether the soft limit depends on the usage (EN-32). */
  private readonly isTiered: boolean

  constructor(
    private readonly entitlement: CompiledEntitlement,
    /** It names the feature. */
    readonly flagKey: string,
  ) {
    const { def, feature, valueType, subtype, period, monthReset } = entitlement
    const named = { ...nothingReported, featureId: feature.def.id, featureKey: flagKey, valueType }
    const bare = writeEntitlement(named, instantText)
    const added = (members: Partial<EntitlementReport>): string =>
      writeEntitlement({ ...named, ...members }, instantText).slice(bare.length - 1, -1)
    const isMetered = isMeasured(valueType) && subtype !== null
    const event = isMetered || this.creditId !== null ? { eventName: subtype, eventSubtype: subtype } : {}
    const allocation = valueType === 'numeric' ? added({ allocation: def.valueNumeric ?? 0 }) : ''
    const credit =
      this.creditId === null
        ? ''
        : `${added(event)},"credit_id":${quotedName(this.creditId)},"consumption_rate":${consumptionRateOf(def)}`
    this.head = flat(`,"entitlement":${bare.slice(0, -1)}${allocation}${credit}`)
    this.isTiered = def.priceBehavior === 'tier' && def.tiers !== null
    const softLimit = this.isTiered ? null : def.softLimit
    this.end = new TextOfInstant(ms => {
      if (this.creditId !== null)
        return metersQuantities(def) ? `,"quantity_rates":${JSON.stringify(def.quantityRates)}}` : '}'
      if (!isMeasured(valueType)) return '}'
      return `${added({
        ...(this.hasUsage && { softLimit }),
        ...event,
        ...(isMetered && {
          metricPeriod: period,
          monthReset: period === 'current_month' ? monthReset : null,
          metricResetAtMs: ms,
        }),
        ...(def.warningTiers.length > 0 && { warningTiers: def.warningTiers }),
      })}}`
    })
  }

  of(company: CompanyFacts): string {
    const { entitlement, head, creditId } = this
    if (creditId !== null) return head + creditText(company.figures(creditId)) + this.end.at(null)
    const { valueType, subtype, period, monthReset, def } = entitlement
    if (!isMeasured(valueType)) return head + this.end.at(null)
    const usage = usageOf(entitlement, company)
    const resetMs = subtype === null || period === null ? null : company.resetsAt(period, monthReset)
    const limit = valueType === 'trait' ? `,"allocation":${limitOf(entitlement, company)}` : ''
    if (usage === null) return head + limit + this.end.at(null)
    const tier = this.isTiered ? softLimitOf(def, usage) : null
    const softLimit = tier === null ? '' : `,"soft_limit":${tier}`
    return `${head}${limit},"usage":${usage}${softLimit}${this.end.at(resetMs)}`
  }

  /** The credit that is drawn; null: none. */
  private get creditId(): string | null {
    const { valueType, def } = this.entitlement
    return valueType === 'credit' ? def.valueCreditId : null
  }

  /** Whether anything measures the usage. */
  private get hasUsage(): boolean {
    const { subtype, period, feature } = this.entitlement
    return (subtype !== null && period !== null) || feature.usageTrait !== null
  }
}

// The figures of one credit, which several entitlements of a company share.
let lastFigures: CreditFigures | null = null
let lastText = ''

function creditText(figures: CreditFigures): string {
  if (figures === lastFigures) return lastText
  const { total, used, remaining, reserved, settled } = shownFigures(figures)
  lastFigures = figures
  lastText = `,"credit_total":${total},"credit_used":${used},"credit_remaining":${remaining},"credit_reserved":${reserved},"credit_settled":${settled}`
  return lastText
}
