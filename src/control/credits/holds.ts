// Leases and reservations: credits set aside before their use (docs/rules/credits.md).
import type {
  CreditLease,
  CreditReservation,
  CreditsReserve,
  LeaseAcquire,
  LeaseExtend,
} from '../../../schemas/credits.js'
import type { CreditMessage, CreditReply, HoldView } from '../../core/model/account-state.js'
import type { HoldKind } from '../../core/model/closed-holds.js'
import { amountFromDecimal, amountFromNumber, amountToNumber } from '../../core/values/amount.js'
import { companyOfHold } from '../../core/values/hold-id.js'
import type { HoldKeyKind } from '../../entities/idempotency/hold-keys.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import { isKnown, orRefused } from '../../kit/entities.js'
import { list, oneOf, page, type QueryOf, query, string } from '../../kit/query.js'
import { isoTime, isoTimeOrNull, requireTime } from '../../kit/time.js'
import { creditRefusals, requireCompany } from './grants.js'
import { countHoldRows, type HoldRow, listHoldRows, requireCredit } from './store.js'

/** Send a hold to the company's actor. The reply is durable. */
async function hold(
  call: Call<unknown, unknown>,
  companyId: string,
  message: CreditMessage,
): Promise<HoldView> {
  const { services, environment, nowMs } = call
  const asked = services.shards.ask<CreditReply>('c', environment.id, companyId, message, nowMs)
  const { reply } = await orRefused(asked, creditRefusals)
  if (reply.type !== 'hold') throw new Error('the company answered without a hold')
  return reply.hold
}

/** hold, under the message's idempotency key. Throws 409 for a key of another company. */
function keyed(
  call: Call<unknown, unknown>,
  kind: HoldKeyKind,
  companyId: string,
  message: CreditMessage & { readonly type: 'credit_extend' | 'credit_reserve' },
): Promise<HoldView> {
  const { services, environment, nowMs } = call
  return services.holdKeys.with(environment.id, kind, message.key, companyId, nowMs, async used => ({
    value: await hold(call, companyId, used ? { ...message, used } : message),
    made: true,
  }))
}

/** The company and credit named by a body. Throws 404. */
async function requireBoth(
  call: Call<{ readonly company_id: string; readonly credit_type_id: string }, unknown>,
): Promise<void> {
  const { services, environment, body } = call
  requireCompany(call, body.company_id)
  const { credits } = services.catalogs.get(environment.id)
  if (!credits.some(credit => credit.id === body.credit_type_id))
    await requireCredit(services.sql, environment.id, body.credit_type_id, 'credit_type_id')
}

/** The company of the hold in the path. Throws 404. */
function ownerOf(call: Call<unknown, unknown>, id: string, name: string): string {
  const companyId = companyOfHold(id)
  if (companyId === null || !isKnown(call, 'company', companyId))
    throw new ServiceError('not_found', `${name} not found`)
  return companyId
}

function amountOf(value: number, member: string) {
  if (!Number.isFinite(value) || Math.abs(value) > 1e15)
    throw new ServiceError('value_invalid', `${member}: out of bounds`)
  return amountFromNumber(value)
}

function endOf(body: { readonly expires_at?: string | null | undefined }): number | null {
  return body.expires_at == null ? null : requireTime(body.expires_at, 'expires_at')
}

function leaseView(companyId: string, lease: HoldView): CreditLease {
  return {
    id: lease.id,
    company_id: companyId,
    credit_type_id: lease.creditId,
    granted_amount: amountToNumber(lease.granted),
    tracked_amount: amountToNumber(lease.tracked),
    expires_at: isoTime(lease.expiresAtMs),
    released_at: isoTimeOrNull(lease.releasedAtMs),
    created_at: isoTime(lease.createdAtMs),
    updated_at: isoTime(lease.updatedAtMs),
  }
}

function reservationView(companyId: string, reservation: HoldView): CreditReservation {
  return {
    id: reservation.id,
    company_id: companyId,
    credit_type_id: reservation.creditId,
    reserved_amount: amountToNumber(reservation.granted),
    settled_amount: amountToNumber(reservation.tracked),
    expires_at: isoTime(reservation.expiresAtMs),
    released_at: isoTimeOrNull(reservation.releasedAtMs),
    created_at: isoTime(reservation.createdAtMs),
    updated_at: isoTime(reservation.updatedAtMs),
  }
}

/**
 * POST /billing/credits/lease. An open lease is returned unchanged. If the balance is short, the lease holds less.
 *
 * errors  402 when nothing can be drawn; 400 for an amount that is not positive, or an end in the past or too far
 *         away.
 * source  CR-70, CR-72, CR-97.
 */
export const acquireLease: Handler<LeaseAcquire> = async call => {
  await requireBoth(call)
  const { body } = call
  const lease = await hold(call, body.company_id, {
    type: 'credit_lease',
    creditId: body.credit_type_id,
    amount: amountOf(body.requested_amount, 'requested_amount'),
    expiresAtMs: endOf(body),
  })
  return { status: 201, data: leaseView(body.company_id, lease) }
}

/** PUT /billing/credits/lease/{lease_id}/extend. Errors: 409 for a key that extended another lease. source: CR-73 */
export const extendLease: Handler<LeaseExtend> = async call => {
  const { body, params } = call
  const companyId = ownerOf(call, params.lease_id!, 'Lease')
  const message = {
    type: 'credit_extend',
    leaseId: params.lease_id!,
    amount: amountOf(body.additional_amount, 'additional_amount'),
    expiresAtMs: endOf(body),
    key: body.idempotency_key ?? null,
  } as const
  const lease = await keyed(call, 'extension', companyId, message)
  return { data: leaseView(companyId, lease) }
}

/** PUT /billing/credits/lease/{lease_id}/release. A second call changes nothing. source: CR-75 */
export const releaseLease: Handler = async call => {
  const leaseId = call.params.lease_id!
  const companyId = ownerOf(call, leaseId, 'Lease')
  return { data: leaseView(companyId, await hold(call, companyId, { type: 'credit_release', leaseId })) }
}

/**
 * POST /billing/credits/reservations: reserves the whole amount or nothing.
 *
 * errors  402 when the balance is too small; 409 for a key that made another reservation in the environment.
 * source  CR-80, CR-90, CR-97.
 */
export const reserveCredits: Handler<CreditsReserve> = async call => {
  await requireBoth(call)
  const { body } = call
  const message = {
    type: 'credit_reserve',
    creditId: body.credit_type_id,
    amount: amountOf(body.amount, 'amount'),
    expiresAtMs: endOf(body),
    key: body.idempotency_key ?? null,
    featureId: null,
    userId: null,
  } as const
  const reservation = await keyed(call, 'reservation', body.company_id, message)
  return { status: 201, data: reservationView(body.company_id, reservation) }
}

/** PUT /billing/credits/reservations/{reservation_id}/release. A second call changes nothing. source: CR-80 */
export const releaseReservation: Handler = async call => {
  const reservationId = call.params.reservation_id!
  const companyId = ownerOf(call, reservationId, 'Reservation')
  const message = { type: 'credit_reservation_release', reservationId } as const
  return { data: reservationView(companyId, await hold(call, companyId, message)) }
}

const listShape = {
  company_id: string,
  credit_type_id: string,
  ids: list,
  state: oneOf(['open', 'settled', 'released', 'expired']),
  ...page,
} as const
export const holdListQuery = query(listShape)
type HoldListQuery = QueryOf<typeof listShape>

/** The view of a hold. A hold past its end is shown as over, even if its row is not updated yet (CR-76). */
function heldOf(row: HoldRow, nowMs: number): HoldView {
  const expiresAtMs = row.expires_at.getTime()
  const endedMs = row.released_at?.getTime() ?? (expiresAtMs <= nowMs ? expiresAtMs : null)
  return {
    id: row.id,
    creditId: row.credit_id,
    kind: row.kind,
    granted: amountFromDecimal(row.granted)!,
    tracked: amountFromDecimal(row.tracked)!,
    createdAtMs: row.created_at.getTime(),
    updatedAtMs: endedMs ?? row.updated_at.getTime(),
    expiresAtMs,
    releasedAtMs: endedMs,
  }
}

/** Holds of one kind, including every acknowledged one. */
async function found(call: Call<unknown, unknown>, kind: HoldKind, filter: HoldListQuery) {
  const { services, environment, nowMs } = call
  await services.projections.barrier('postgres')
  return listHoldRows(services.sql, environment.id, kind, filter, nowMs, filter)
}

async function counted(
  { services, environment, nowMs }: Call<unknown, unknown>,
  kind: HoldKind,
  filter: HoldListQuery,
) {
  await services.projections.barrier('postgres')
  return { count: await countHoldRows(services.sql, environment.id, kind, filter, nowMs) }
}

/** One hold. Throws 404. */
async function oneOfKind(call: Call<unknown, unknown>, kind: HoldKind, id: string): Promise<HoldRow> {
  const [row] = await found(call, kind, { ids: [id], limit: 1, offset: 0 })
  if (!row) throw new ServiceError('not_found', `${kind === 'lease' ? 'Lease' : 'Reservation'} not found`)
  return row
}

/**
 * GET /billing/credits/lease: open and ended leases, newest first. Leases that ended a month ago are gone.
 *
 * source  decision.
 */
export const listLeases: Handler<undefined, HoldListQuery> = async call => {
  const rows = await found(call, 'lease', call.query)
  return { data: rows.map(row => leaseView(row.company_id, heldOf(row, call.nowMs))) }
}

/** GET /billing/credits/lease/count. */
export const countLeases: Handler<undefined, HoldListQuery> = async call => ({
  data: await counted(call, 'lease', call.query),
})

/** GET /billing/credits/lease/{lease_id}. */
export const getLease: Handler = async call => {
  const row = await oneOfKind(call, 'lease', call.params.lease_id!)
  return { data: leaseView(row.company_id, heldOf(row, call.nowMs)) }
}

/** GET /billing/credits/reservations, as for leases. source: decision */
export const listReservations: Handler<undefined, HoldListQuery> = async call => {
  const rows = await found(call, 'reservation', call.query)
  return { data: rows.map(row => reservationView(row.company_id, heldOf(row, call.nowMs))) }
}

/** GET /billing/credits/reservations/count. */
export const countReservations: Handler<undefined, HoldListQuery> = async call => ({
  data: await counted(call, 'reservation', call.query),
})

/** GET /billing/credits/reservations/{reservation_id}. */
export const getReservation: Handler = async call => {
  const row = await oneOfKind(call, 'reservation', call.params.reservation_id!)
  return { data: reservationView(row.company_id, heldOf(row, call.nowMs)) }
}
