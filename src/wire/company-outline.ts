// A company as its view shows it, from its actor to the HTTP thread: one text, since a structured clone costs more the
// more values there are. Entitlements and metrics, most of a view, are written by the actor's thread in their wire form.
import { type MetricPeriod, type MonthReset, metricPeriods, monthResets } from '../../schemas/enums.js'
import type { CounterReading } from '../core/model/counters.js'
import type { CompanyFigures, CompanyHead } from '../core/model/descriptions.js'
import type { EntitlementReport } from '../core/model/entitlement-report.js'
import { isoTime } from '../core/values/instant.js'

export interface CompanyOutline extends Pick<CompanyFigures, 'plan' | 'addOns'>, OutlinedFigures {
  readonly state: CompanyHead
}

/** The figures of a view, as JSON: text, or its bytes. */
interface OutlinedFigures {
  /** FeatureEntitlement[]. */
  readonly entitlements: string | Uint8Array
  /** CompanyEventPeriodMetrics[]. */
  readonly metrics: string | Uint8Array
  /** Remaining credits by credit id. */
  readonly balances: string
}

/** Figures under the name that their shard gave them: it leaves them out of an outline while they are the same. */
export interface MarkedFigures extends OutlinedFigures {
  readonly mark: string
  readonly entitlements: Uint8Array
  readonly metrics: Uint8Array
}

/** The outline of a company from its figures. */
export function outlineOf(state: CompanyHead, figures: CompanyFigures, accountId: string): CompanyOutline {
  const { plan, addOns, balances } = figures
  const metrics = new MetricsJson(accountId, state)
  for (const reading of figures.metrics) metrics.add(reading.eventSubtype, reading)
  const remaining = Object.entries(balances).map(([creditId, one]) => [creditId, one.remaining])
  return {
    state,
    plan,
    addOns,
    entitlements: entitlementsJson(figures.entitlements),
    metrics: metrics.end(),
    balances: JSON.stringify(Object.fromEntries(remaining)),
  }
}

/** JSON has no line ends: they separate the parts. */
const partEnd = '\n'

/** An outline as it crosses. Figures that are '' are those under the mark of the question. */
interface PackedOutline extends Pick<CompanyFigures, 'plan' | 'addOns'> {
  readonly state: CompanyHead
  readonly entitlements: string
  readonly metrics: string
  readonly balances: string
}

/** `mark`: name of the figures; '': none, they are not to be kept. */
export function packOutline({ entitlements, metrics, balances, ...head }: PackedOutline, mark = ''): string {
  const figures = partEnd + entitlements + partEnd + metrics + partEnd + balances
  return JSON.stringify(head) + partEnd + mark + figures
}

/**
 * The outline of a packed one, and its figures under their mark.
 *
 * known    those of the question's mark; null where it had none.
 * figures  null: not to be kept.
 */
export function unpackOutline(
  text: string,
  known: MarkedFigures | null = null,
): { readonly outline: CompanyOutline; readonly figures: MarkedFigures | null } {
  const [head, mark, entitlements, metrics, balances] = text.split(partEnd) as [
    string,
    string,
    string,
    string,
    string,
  ]
  const parts = JSON.parse(head)
  if (mark === '') return { outline: { ...parts, entitlements, metrics, balances }, figures: null }
  const figures =
    known !== null && mark === known.mark
      ? known
      : {
          mark,
          entitlements: Buffer.from(entitlements),
          metrics: metrics === '' && known !== null ? known.metrics : Buffer.from(metrics),
          balances,
        }
  return { outline: { ...parts, ...figures }, figures }
}

/** FeatureEntitlement[]. */
export function entitlementsJson(reports: readonly EntitlementReport[]): string {
  let json = ''
  for (const report of reports) json += json === '' ? entitlementJson(report) : `,${entitlementJson(report)}`
  return `[${json}]`
}

/** FeatureEntitlement. Members without meaning for the value type are absent. source: EN-50 */
function entitlementJson(report: EntitlementReport): string {
  const { allocation, usage, softLimit, metricResetAtMs, creditId, quantityRates, warningTiers } = report
  let json = `{"feature_id":${quoted(report.featureId)},"feature_key":${quoted(report.featureKey)},"value_type":"${report.valueType}"`
  if (allocation !== null) json += `,"allocation":${allocation}`
  if (usage !== null) json += `,"usage":${usage}`
  if (softLimit !== null) json += `,"soft_limit":${softLimit}`
  if (report.eventName !== null) json += `,"event_name":${quoted(report.eventName)}`
  if (report.eventSubtype !== null) json += `,"event_subtype":${quoted(report.eventSubtype)}`
  if (report.metricPeriod !== null) json += `,"metric_period":"${report.metricPeriod}"`
  if (report.monthReset !== null) json += `,"month_reset":"${report.monthReset}"`
  if (metricResetAtMs !== null) json += `,"metric_reset_at":"${isoTime(metricResetAtMs)}"`
  if (creditId !== null) json += `,"credit_id":${quoted(creditId)}`
  if (report.consumptionRate !== null) json += `,"consumption_rate":${report.consumptionRate}`
  if (quantityRates !== null) json += `,"quantity_rates":${JSON.stringify(quantityRates)}`
  if (report.creditTotal !== null) json += `,"credit_total":${report.creditTotal}`
  if (report.creditUsed !== null) json += `,"credit_used":${report.creditUsed}`
  if (report.creditRemaining !== null) json += `,"credit_remaining":${report.creditRemaining}`
  if (report.creditReserved !== null) json += `,"credit_reserved":${report.creditReserved}`
  if (report.creditSettled !== null) json += `,"credit_settled":${report.creditSettled}`
  if (warningTiers !== null) json += `,"warning_tiers":${JSON.stringify(warningTiers)}`
  return `${json}}`
}

/** Ids and keys of definitions as JSON texts: each is written many times. */
const quotedTexts = new Map<string, string>()
const quotedMax = 10_000

function quoted(text: string): string {
  let json = quotedTexts.get(text)
  if (json === undefined) {
    json = JSON.stringify(text)
    if (quotedTexts.size >= quotedMax) quotedTexts.clear()
    quotedTexts.set(text, json)
  }
  return json
}

const windowNames = Object.fromEntries(
  metricPeriods.map(period => {
    const names = monthResets.map(
      reset => [reset, `,"period":"${period}","month_reset":"${reset}","value":`] as const,
    )
    return [period, Object.fromEntries(names)]
  }),
) as Readonly<Record<MetricPeriod, Readonly<Record<MonthReset, string>>>>

/** Writes CompanyEventPeriodMetrics[], one reading after the other. */
export class MetricsJson {
  private json = ''
  /** The name of the last reading, and how its rows begin. Few and long pieces: each costs when the text is joined. */
  private name: string | null = null
  private begin = ''

  constructor(
    private readonly accountId: string,
    private readonly company: Pick<CompanyHead, 'id' | 'environmentId'>,
  ) {}

  /** A window without events has no times and is left out (US-1, US-2). */
  add(eventSubtype: string, reading: CounterReading): void {
    const { capturedAtMinMs: minMs, capturedAtMaxMs: maxMs, validUntilMs: untilMs } = reading
    if (minMs === null || maxMs === null) return
    if (eventSubtype !== this.name) this.beginName(eventSubtype)
    const until = untilMs === null ? 'null' : `"${isoTime(untilMs)}"`
    this.json += `${this.json === '' ? '' : ','}${this.begin}${windowNames[reading.period][reading.monthReset]}${reading.value},"captured_at_min":"${isoTime(minMs)}","captured_at_max":"${isoTime(maxMs)}","created_at":"${isoTime(reading.createdAtMs)}","valid_until":${until}}`
  }

  private beginName(eventSubtype: string): void {
    const { id, environmentId } = this.company
    const ids = { account_id: this.accountId, environment_id: environmentId, company_id: id }
    this.begin = JSON.stringify({ ...ids, event_subtype: eventSubtype }).slice(0, -1)
    this.name = eventSubtype
  }

  end(): string {
    return `[${this.json}]`
  }
}
