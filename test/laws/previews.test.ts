// The law of previews through the whole service: random plan groups and billing profiles, plans, prices, billing days, seats,
// add-ons, coupons and bundles, and changes at random instants. The line items of each preview are the lines that the change
// makes among the charges, less those that it takes away, one by one, and its sums are theirs (PB-33, RA-13…16, RA-24, RA-29).
// The seed is printed; TOLLGATE_SEED repeats a run.
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { dayMs } from '../../src/core/values/period.js'
import { startHere } from '../harness.js'
import { offerPlans } from '../interface/billing-world.js'
import { ChargesWorld, type Sold } from '../interface/charges-world.js'
import { Random, seed, times } from '../random.js'

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked at member by member in tests
type Body = any

const intervals = ['monthly', 'yearly'] as const
type Interval = (typeof intervals)[number]

/** A plan or add-on on sale. */
interface Offer {
  readonly plan: Sold
  readonly prices: Readonly<Partial<Record<Interval | 'once', string>>>
  readonly seats: Readonly<Partial<Record<Interval, string>>>
}

const iso = (ms: number) => new Date(ms).toISOString()

/** A line as the law compares it. A line without an amount is not shown. */
const shown = (lines: readonly Body[], sign = 1): string[] =>
  lines
    .filter(({ amount }) => amount !== 0)
    .map(one => `${one.price_id} ${sign * Math.trunc(one.quantity)} ${sign * one.amount}`)

/** All that is in a list of texts and not in the other. */
function without(all: readonly string[], others: readonly string[]): string[] {
  const left = [...others]
  return all.filter(one => {
    const at = left.indexOf(one)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
}

t.test(
  'PB-33, RA-13…16, RA-24, RA-29 a preview shows the lines that the change then makes among the charges',
  async t => {
    t.comment(`seed ${seed}`)
    const random = new Random()
    const { client, tollgate } = await startHere(t)
    const here = await ChargesWorld.of(client)
    let nowMs = Date.UTC(2031, 0, 30, 9, 0, 0, 512)
    await here.clock(iso(nowMs))
    const seats = await client.ok('POST', '/features', { name: 'Seats', feature_type: 'license' })
    let made = 0

    async function offer(type: 'add_on' | 'plan', sellsSeats: boolean, more: object = {}): Promise<Offer> {
      const amount = () => 1 + random.below(5000)
      const seat = {
        feature_id: seats.id,
        price_behavior: 'pay_in_advance',
        monthly_unit_price: amount(),
        yearly_unit_price: amount(),
      }
      const prices = { monthly_price: amount(), yearly_price: 9 * amount(), ...more }
      const plan = await here.sold(`Offer ${++made}`, sellsSeats ? [seat] : [], prices, { plan_type: type })
      const shown = await client.ok('GET', `/plans/${plan.id}`)
      const [sold] = sellsSeats ? await client.ok('GET', `/plan-entitlements?plan_id=${plan.id}`) : []
      return {
        plan,
        prices: {
          monthly: shown.monthly_price?.id,
          yearly: shown.yearly_price?.id,
          once: shown.one_time_price?.id,
        },
        seats: { monthly: sold?.metered_monthly_price.id, yearly: sold?.metered_yearly_price.id },
      }
    }

    const plans = [await offer('plan', true), await offer('plan', true), await offer('plan', false)]
    const tried = await offer('plan', false, { is_trialable: true, trial_days: 12 })
    const addOns = [await offer('add_on', false), await offer('add_on', false)]
    const once = await offer('add_on', false, {
      charge_type: 'one_time',
      monthly_price: null,
      yearly_price: null,
      one_time_price: 777,
    })
    const credit = await client.ok('POST', '/billing/credits', {
      name: 'C',
      description: '',
      currency: 'usd',
    })
    const bundle = await client.ok('POST', '/billing/credits/bundles', {
      bundle_name: 'B',
      credit_id: credit.id,
      currency: 'usd',
      price_per_unit: 3,
      quantity: 10,
    })
    const coupon = { duration: 'once', duration_in_months: 0, max_redemptions: 0, times_redeemed: 0 }
    await client.ok('POST', '/billing/coupons', {
      ...coupon,
      external_id: 'percent',
      name: 'Percent',
      amount_off: 0,
      percent_off: 33,
    })
    await client.ok('POST', '/billing/coupons', {
      ...coupon,
      external_id: 'amount',
      name: 'Amount',
      amount_off: 321,
      percent_off: 0,
      currency: 'usd',
      duration: 'forever',
    })

    /** A change that anybody might ask for; some are refused. */
    function wish(had: Body): Body {
      const interval: Interval = random.chance(0.25)
        ? 'yearly'
        : had?.interval === 'year' && random.chance(0.8)
          ? 'yearly'
          : 'monthly'
      const base = random.chance(0.1) ? null : random.chance(0.1) ? tried : random.pick(plans)
      const added = base === tried ? [] : addOns.filter(() => random.chance(0.3))
      const quantity = random.below(6)
      return {
        base_plan_id: base?.plan.id ?? null,
        ...(base && { base_plan_price_id: base.prices[interval] }),
        add_on_selections: [
          ...added.map(({ plan, prices }) => ({ plan_id: plan.id, price_id: prices[interval] })),
          ...(base !== tried && random.chance(0.2)
            ? [{ plan_id: once.plan.id, price_id: once.prices.once }]
            : []),
        ],
        pay_in_advance_entitlements:
          base?.seats[interval] && quantity > 0 ? [{ price_id: base.seats[interval], quantity }] : [],
        credit_bundles: random.chance(0.1) ? [{ bundle_id: bundle.id, quantity: 1 + random.below(3) }] : [],
        ...(random.chance(0.3) && { prorate: random.chance(0.2) }),
        ...(base === null && random.chance(0.5) && { cancel_immediately: random.chance(0.7) }),
        ...(random.chance(0.15) && { coupon_external_id: random.pick(['percent', 'amount']) }),
        ...(!had &&
          random.chance(0.5) && {
            billing_cycle_anchor: iso(nowMs + Math.ceil(random.next() * 27 * dayMs)),
            ...(random.chance(0.4) && { prorate_first_period: false }),
          }),
      }
    }

    /** Lines of the charges from the start of a period on. */
    async function charged(id: string, since: string | null): Promise<{ start: string; lines: Body[] }> {
      const now = await here.charges(id)
      const start = now.period.start_time
      const former = since !== null && since < start ? await here.charges(id, since) : { lines: [] }
      return { start, lines: [...former.lines, ...now.lines] }
    }

    const groups = [
      null,
      {},
      { proration_behavior: 'create_prorations' },
      { proration_behavior: 'invoice_immediately', scheduled_downgrade_behavior: 'end_of_billing_period' },
    ]
    let changes = 0
    let credits = 0
    for (const group of groups) {
      if (group !== null) await offerPlans(client, tollgate, {}, group)
      const companies: string[] = []
      for (let i = 0; i < 5; i++) {
        const { id } = await client.ok('POST', '/companies', { keys: { slug: `previewed${++made}` } })
        companies.push(id)
        if (!random.chance(0.3)) continue
        await client.ok('POST', '/billing/customer/upsert', {
          external_id: `cus_${id}`,
          company_id: id,
          email: 'a@b.c',
          name: 'Billed',
          meta: {},
        })
        const [profile] = await client.ok('GET', `/billing/profiles?company_id=${id}`)
        await client.ok('PUT', `/billing/profiles/${profile.id}`, {
          collection_method: 'charge_automatically',
          proration_behavior: random.pick(['create_prorations', 'invoice_immediately']),
        })
      }
      for (let step = 0; step < times(8); step++) {
        nowMs += Math.ceil(random.next() * random.pick([1, 9, 9, 40]) * dayMs)
        await here.clock(iso(nowMs))
        for (const id of companies) {
          const had = (await client.ok('GET', `/companies/${id}`)).billing_subscription ?? null
          const asked = { company_id: id, ...wish(had) }
          const before = await charged(id, null)
          const said = await client.post('/manage-plan/preview', asked)
          const answer = await client.post('/manage-plan', asked)
          if (said.status !== 200 || answer.status !== 200) {
            if (said.status !== answer.status)
              t.equal(said.status, answer.status, `${JSON.stringify(asked)} ${JSON.stringify(said.body)}`)
            continue
          }
          const after = await charged(id, before.start)
          const all = (lines: Body[]) => lines.map(one => JSON.stringify(identity(one)))
          const [was, is] = [all(before.lines), all(after.lines)]
          const added = without(is, was).map(text => JSON.parse(text))
          const removed = without(was, is).map(text => JSON.parse(text))
          const wanted = [...shown(added), ...shown(removed, -1)].sort()
          const { finance, ...preview } = said.body.data.subscription_change_preview
          const items = finance.upcoming_invoice_line_items
          const carried = items.filter(
            (one: Body) => one.description === 'Credit carried to the next invoice',
          )
          const found = shown(items.filter((one: Body) => !carried.includes(one))).sort()
          const sum = [...added.map(one => one.amount), ...removed.map(one => -one.amount)]
          const total = sum.reduce((all, one) => all + one, 0)
          const right =
            isDeepStrictEqual(found, wanted) &&
            preview.new_charges + preview.proration - finance.discount_amount === total &&
            preview.due_now === Math.max(0, total) &&
            items.reduce((all: number, one: Body) => all + one.amount, 0) === preview.due_now
          changes++
          credits += preview.proration < 0 ? 1 : 0
          if (right) continue
          t.same(found, wanted, `${iso(nowMs)} ${JSON.stringify({ group, asked, had, preview, total })}`)
          t.fail(`TOLLGATE_SEED=${seed}`)
          return
        }
      }
    }
    t.ok(changes > 50 && credits > 3, `${changes} changes, ${credits} with credits`)
  },
)

/** All that tells two charge lines apart, but for their place and when they fall due. */
function identity(line: Body): Body {
  const { kind, charge_kind, price_id, coupon_id, quantity, amount, amount_decimal, start_time, end_time } =
    line
  return { kind, charge_kind, price_id, coupon_id, quantity, amount, amount_decimal, start_time, end_time }
}
