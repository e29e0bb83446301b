// The credit ledger: every movement of every grant of a company, from ClickHouse (CR-86…91).
import type { CreditLedgerEntry } from '../../../schemas/credits.js'
import {
  type BillingCreditGrantReason,
  type BillingCreditGrantZeroedOutReason,
  type CreditEventType,
  type CreditTransferReason,
  type CreditUsageReason,
  creditEventTypes,
} from '../../../schemas/enums.js'
import {
  creditLedgerCount,
  creditLedgerList,
  type LedgerFilter,
  type LedgerRow,
} from '../../analytics/history.js'
import { derivedId } from '../../core/values/id.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import { isKnown } from '../../kit/entities.js'
import { datetime, oneOf, page, type QueryOf, query, required, string } from '../../kit/query.js'
import { among } from '../../kit/sql.js'
import { isoTime, isoTimeOrNull } from '../../kit/time.js'
import { companyBriefs } from '../entities/read.js'
import { creditViews } from './view.js'

const ledgerShape = {
  company_id: required(string),
  billing_credit_id: string,
  event_type: oneOf(creditEventTypes),
  feature_id: string,
  start_time: datetime,
  end_time: datetime,
  ...page,
} as const
export const ledgerQuery = query(ledgerShape)
type LedgerQuery = QueryOf<typeof ledgerShape>

function filterOf(query: LedgerQuery): LedgerFilter {
  return {
    companyId: query.company_id,
    creditId: query.billing_credit_id,
    eventType: query.event_type,
    featureId: query.feature_id,
    fromMs: query.start_time,
    toMs: query.end_time,
  }
}

/**
 * Read the ledger after settling what time alone has changed, so that it agrees with every balance (CR-88). A deleted
 * company has nothing to settle; its entries remain (CU-50).
 *
 * errors  404 for an unknown company without entries in this environment.
 */
async function settledHistory(call: Call<undefined, LedgerQuery>) {
  const { services, environment, nowMs, query } = call
  const { company_id: companyId } = query
  const isThere = isKnown(call, 'company', companyId)
  if (isThere) await services.shards.ask('c', environment.id, companyId, { type: 'credits' }, nowMs)
  await services.projections.barrierOf('clickhouse', environment.id)
  const { clickhouse } = services
  if (!isThere && (await creditLedgerCount(clickhouse, environment.id, { companyId })) === 0)
    throw new ServiceError('not_found', 'company_id: no such company')
  return clickhouse
}

/**
 * GET /billing/credits/ledger and /v2/billing/credits/ledger, latest first.
 *
 * source  CR-86…91. Entries with the same time and credit: the later one first; `end_time` is exclusive: decision.
 */
export const listLedger: Handler<undefined, LedgerQuery> = async call => {
  const store = await settledHistory(call)
  const rows = await creditLedgerList(store, call.environment.id, filterOf(call.query), call.query)
  return { data: await entryViews(call, rows) }
}

/** GET /v2/billing/credits/ledger/count. */
export const countLedger: Handler<undefined, LedgerQuery> = async call => {
  const store = await settledHistory(call)
  return { data: { count: await creditLedgerCount(store, call.environment.id, filterOf(call.query)) } }
}

async function entryViews(
  call: Call<undefined, LedgerQuery>,
  rows: readonly LedgerRow[],
): Promise<CreditLedgerEntry[]> {
  if (rows.length === 0) return []
  const { services, environment, query } = call
  const { sql } = services
  const credits = await creditViews(
    sql,
    rows.map(row => row.credit_id),
  )
  const company = (await companyBriefs(call, [query.company_id])).get(query.company_id)
  const featureIds = [...new Set(rows.map(row => row.feature_id).filter(id => id !== ''))]
  const found =
    featureIds.length === 0
      ? []
      : await sql<{ id: string; name: string; description: string; icon: string }[]>`
          select id, name, description, icon from features where id in ${among(sql, featureIds)}`
  const features = new Map(found.map(row => [row.id, row]))
  return rows.map(row => {
    const credit = credits.get(row.credit_id)
    const feature = features.get(row.feature_id)
    return {
      ...members(row, environment.id, query.company_id),
      credit_name: credit?.name ?? '',
      ...(credit && {
        credit: {
          id: credit.id,
          name: credit.name,
          description: credit.description,
          icon: credit.icon,
          plural_name: credit.plural_name,
          singular_name: credit.singular_name,
        },
      }),
      ...(company && { company: { id: company.id, name: company.name, logo_url: null } }),
      ...(feature && { feature: { ...feature } }),
    }
  })
}

const orNull = (text: string): string | null => (text === '' ? null : text)
const numberOf = (text: string | null): number | null => (text === null ? null : Number(text))

function members(
  row: LedgerRow,
  environmentId: string,
  companyId: string,
): Omit<CreditLedgerEntry, 'credit_name' | 'credit' | 'company' | 'feature'> {
  return {
    source_id: Number(row.sequence),
    event_id: derivedId('bcle_', companyId, row.credit_id, row.sequence),
    environment_id: environmentId,
    event_type: row.event_type as CreditEventType,
    event_at: isoTime(row.event_at_ms),
    amount: Number(row.amount),
    billing_credit_id: row.credit_id,
    company_id: companyId,
    feature_id: orNull(row.feature_id),
    grant_id: orNull(row.grant_id),
    from_grant_id: orNull(row.from_grant_id),
    to_grant_id: orNull(row.to_grant_id),
    plan_id: orNull(row.plan_id),
    billing_credit_bundle_id: orNull(row.billing_credit_bundle_id),
    usage_event_id: orNull(row.usage_event_id),
    auto_topup_log_id: null,
    quantity_consumed: Number(row.quantity_consumed),
    usage_reason: orNull(row.usage_reason) as CreditUsageReason | null,
    transfer_reason: orNull(row.transfer_reason) as CreditTransferReason | null,
    zeroed_out_reason: orNull(row.zeroed_out_reason) as BillingCreditGrantZeroedOutReason | null,
    quantity_remaining_at_zero_out: row.event_type === 'zero_out' ? -Number(row.amount) : null,
    grant_reason: orNull(row.grant_reason) as BillingCreditGrantReason | null,
    grant_quantity: numberOf(row.grant_quantity),
    grant_quantity_remaining: numberOf(row.grant_quantity_remaining),
    grant_valid_from: isoTimeOrNull(row.grant_valid_from_ms),
    grant_expires_at: isoTimeOrNull(row.grant_expires_at_ms),
    expiry_type: null,
    expiry_unit: null,
    expiry_unit_count: null,
  }
}
