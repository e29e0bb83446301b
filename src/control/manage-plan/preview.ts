// Previews the cost and the limit violations of a change of plans. Taxes are not included.
import type {
  PreviewLineItem,
  PreviewSubscriptionChange,
  PreviewSubscriptionFinance,
} from '../../../schemas/billing.js'
import type { FeatureUsage } from '../../../schemas/usage.js'
import type { CatalogData } from '../../core/model/definitions.js'
import type { ChargeLine } from '../../core/rating/line.js'
import { quantityOf } from '../../core/values/quantity.js'
import { long, storedLong, storedLongOrNull } from '../../kit/long.js'
import { isoTime, isoTimeOrNull } from '../../kit/time.js'
import type { Change } from './change.js'

/** The parts of a preview. */
interface Previewed {
  readonly change: Change
  /** The charge lines that the change makes (`linesOfChange`). */
  readonly lines: readonly ChargeLine[]
  readonly violations: FeatureUsage[]
  readonly paymentMethods: number
  /** Names of plans and features. */
  readonly catalog: CatalogData
  readonly nowMs: number
}

/**
 * The cost of a change: its charge lines, as rating gives them. Amounts in the smallest unit.
 *
 * source  PB-33, RA-29.
 */
export function previewOf(preview: Previewed): PreviewSubscriptionChange {
  const { change, violations } = preview
  const { settings, scheduledAtMs, coupon } = change
  const money = amountsOf(preview.lines)
  return {
    amount_off: storedLong(coupon?.amount_off ?? 0),
    percent_off: coupon?.percent_off ?? 0,
    due_now: whole(money.due),
    new_charges: whole(money.charges),
    proration: whole(money.proration),
    period_start: isoTime(change.startMs),
    trial_end: isoTimeOrNull(change.trialEndMs),
    is_scheduled_downgrade: scheduledAtMs !== null,
    scheduled_change_time: isoTimeOrNull(scheduledAtMs),
    opt_in_required: settings.opt_in_enabled === true,
    opt_in_text: settings.opt_in_text ?? null,
    opt_in_title: settings.opt_in_title ?? null,
    payment_method_required: money.due > 0n && preview.paymentMethods === 0,
    promo_code_applied: change.promoCode !== null,
    usage_violations: violations,
    finance: financeOf(preview, money),
  }
}

const whole = (amount: bigint): number => long(quantityOf(amount))

interface Amounts {
  /** Charges, credits (0 or less), and the discount on both. */
  readonly charges: bigint
  readonly proration: bigint
  readonly discount: bigint
  /** At least 0: a credit that is left over is carried to the next invoice. */
  readonly due: bigint
}

const isDiscount = ({ kind }: ChargeLine): boolean => kind === 'discount'

function amountsOf(lines: readonly ChargeLine[]): Amounts {
  const sum = (wanted: (line: ChargeLine) => boolean) =>
    lines.reduce((all, line) => (wanted(line) ? all + line.amount : all), 0n)
  const charges = sum(line => !isDiscount(line) && line.amount > 0n)
  const proration = sum(line => !isDiscount(line) && line.amount < 0n)
  const discount = -sum(isDiscount)
  const due = charges + proration - discount
  return { charges, proration, discount, due: due > 0n ? due : 0n }
}

/**
 * The lines of the change that cost or credit something: charges, then credits, then discounts. They sum to `due_now`: what a credit leaves over is carried to
 * the next invoice. Nothing due yet (a trial, a change at the period's end): no line.
 *
 * source  decision.
 */
function itemsOf({ change, lines, catalog }: Previewed, money: Amounts): PreviewLineItem[] {
  const named = [...change.lines, ...change.once]
  const nameOf = ({ price, featureId, sold }: ChargeLine): string =>
    named.find(one => one.price.id === price?.id)?.description ??
    catalog.features.find(one => one.id === featureId)?.name ??
    catalog.plans.find(one => one.id === sold?.planId)?.name ??
    'the present plans'
  const rank = (line: ChargeLine): number => (isDiscount(line) ? 2 : line.amount < 0n ? 1 : 0)
  const ordered = lines.toSorted((a, b) => rank(a) - rank(b))
  const items = ordered.flatMap((line): PreviewLineItem[] => {
    const { amount, quantity, price } = line
    if (amount === 0n) return []
    const credits = !isDiscount(line) && amount < 0n
    const description = credits ? `Unused time of ${nameOf(line)}` : nameOf(line)
    return [
      {
        amount: whole(amount),
        quantity: whole(quantity.n / quantity.d),
        description: isDiscount(line) ? `Discount on ${description}` : description,
        price_id: price?.id ?? '',
        proration: credits,
      },
    ]
  })
  const carried = money.due - (money.charges + money.proration - money.discount)
  if (carried === 0n) return items
  const [first] = items
  const description = 'Credit carried to the next invoice'
  const price_id = first?.price_id ?? ''
  return [...items, { amount: whole(carried), quantity: 1, description, price_id, proration: false }]
}

/** When parts of a period are invoiced: with its closing, or at once (RA-15); null: the change makes none. */
function prorationBilledAt(lines: readonly ChargeLine[]): string | null {
  return isoTimeOrNull(lines.find(one => one.proration !== null && one.amount !== 0n)?.dueMs ?? null)
}

function financeOf(preview: Previewed, money: Amounts): PreviewSubscriptionFinance {
  const { change, lines, nowMs } = preview
  const { coupon, total } = change
  return {
    amount_off: storedLong(coupon?.amount_off ?? 0),
    percent_off: coupon?.percent_off ?? 0,
    discount_amount: whole(money.discount),
    discounts: coupon
      ? [
          {
            coupon_name: coupon.name,
            duration: coupon.duration ?? '',
            is_active: coupon.is_active,
            started_at: isoTime(nowMs),
            ended_at: null,
            amount_off: storedLongOrNull(coupon.amount_off),
            percent_off: coupon.percent_off,
            currency: coupon.currency,
            duration_in_months: storedLongOrNull(coupon.duration_in_months),
            customer_facing_code: change.promoCode,
            promo_code_external_id: null,
          },
        ]
      : [],
    due_now: whole(money.due),
    new_charges: whole(money.charges),
    proration: whole(money.proration),
    total_per_billing_period: long(total),
    period_start: isoTime(change.startMs),
    period_end: isoTime(change.endMs),
    promo_code_applied: change.promoCode !== null,
    tax_require_billing_details: false,
    upcoming_invoice_line_items: itemsOf(preview, money),
    proration_billed_at: prorationBilledAt(lines),
    trial_end: isoTimeOrNull(change.trialEndMs),
    tax_amount: null,
    tax_display_name: null,
  }
}
