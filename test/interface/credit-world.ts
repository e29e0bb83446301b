// Builders for tests of credits over HTTP: a credit, companies with grants, a feature that draws, the ledger as sums.
import type { Test } from 'tap'
import { publishDraftOf, publishedPlan } from '../control/planned.js'
import type { Shape } from '../control/shape.js'
import type { Client } from '../harness.js'

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked at member by member in tests
type Body = any

export const creditShapes = {
  credit: {
    required: `burn_strategy cost_editable created_at updated_at currency_prices default_expiry_unit
      default_rollover_policy description id name ledger_authority`,
    nullable: 'default_expiry_unit_count icon plural_name singular_name',
    optional: 'price product',
  },
  bundle: {
    required: `bundle_type created_at updated_at credit_id credit_name id name currency_prices expiry_type expiry_unit
      has_grants status compatible_plan_ids`,
    nullable: 'billing_invoice_id credit_icon plural_name singular_name expiry_unit_count quantity',
    optional: 'credit_description price unit_price',
  },
  grant: {
    required: `company_id company_name credit_id credit_name id source_label created_at updated_at grant_reason quantity
      quantity_remaining quantity_used renewal_enabled`,
    nullable: `credit_icon currency license_name plan_id plan_name postpaid_charge_currency expires_at valid_from
      zeroed_out_date renewal_period reserved settled zeroed_out_reason company_license_id credit_bundle_id
      postpaid_charge_amount postpaid_charged_credits source_grant_id`,
    optional: 'price transfers',
  },
  balance: { required: 'credit_id remaining reserved settled source', nullable: 'total' },
  lease: {
    required: 'company_id credit_type_id id created_at expires_at updated_at granted_amount tracked_amount',
    nullable: 'released_at',
  },
  reservation: {
    required: 'company_id credit_type_id id created_at expires_at updated_at reserved_amount settled_amount',
    nullable: 'released_at',
  },
  checkReservation: {
    required: 'company_id credit_type_id id credits_reserved expires_at consumption_rate quantity_reserved',
    nullable: 'event_subtype',
  },
  planGrant: {
    required: `auto_topup_availability created_at updated_at credit_amount credit_id id plan_id scaling
      auto_topup_enabled auto_topup_self_service billing_mode can_buy_bundles company_credit_amount credit_name plan_name
      postpaid_enabled price_tiers rollover_percentage`,
    nullable: `auto_topup_amount auto_topup_expiry_unit_count auto_topup_threshold_credits auto_topup_threshold_percent
      expiry_unit_count auto_topup_amount_type plan_version_id postpaid_rate_per_unit_decimal unit_price_decimal
      auto_topup_expiry_type expiry_type auto_topup_expiry_unit expiry_unit reset_cadence reset_start reset_type
      arrears_anchor arrears_cadence credit_plural_name credit_singular_name license_id overdraft_limit
      postpaid_rate_per_unit tier_mode unit_price`,
    optional: 'credit plan price renewal_enabled renewal_period',
  },
  policy: {
    required: 'billing_credit_id id created_at updated_at scope_type',
    nullable: 'company_id label user_id max_per_draw',
  },
  ledger: {
    required: `amount billing_credit_id company_id credit_name environment_id event_id event_at event_type source_id`,
    nullable: `auto_topup_log_id billing_credit_bundle_id feature_id from_grant_id grant_id plan_id to_grant_id
      usage_event_id expiry_type expiry_unit expiry_unit_count grant_expires_at grant_valid_from grant_quantity
      grant_quantity_remaining quantity_consumed quantity_remaining_at_zero_out grant_reason transfer_reason
      usage_reason zeroed_out_reason`,
    optional: 'company credit feature',
  },
} as const satisfies Readonly<Record<string, Shape>>

let made = 0

/** One Tollgate, asked about credits. */
export class CreditWorld {
  constructor(readonly client: Client) {}

  credit(more: object = {}): Promise<Body> {
    const body = { name: `Credit ${++made}`, description: 'd', currency: 'usd', ...more }
    return this.client.ok('POST', '/billing/credits', body)
  }

  /** A company of its own, on a plan if one is named. */
  async company(more: object = {}): Promise<{ readonly id: string; readonly keys: { slug: string } }> {
    const keys = { slug: `co${++made}` }
    const { id } = await this.client.ok('POST', '/companies', { keys, name: keys.slug, ...more })
    return { id, keys }
  }

  grant(companyId: string, creditId: string, quantity: number, more: object = {}): Promise<Body> {
    return this.client.ok('POST', '/billing/credits/grants/company', {
      company_id: companyId,
      credit_id: creditId,
      quantity,
      reason: 'free',
      ...more,
    })
  }

  /** An event feature with its flag, and a published plan that entitles to it for credits; also to what `grants` say. */
  async metered(creditId: string, rate: number, grants: readonly object[] = []) {
    const subtype = `use${++made}`
    const feature = await this.client.ok('POST', '/features', {
      name: `Feature ${subtype}`,
      description: '',
      feature_type: 'event',
      event_subtype: subtype,
    })
    const [flag] = await this.client.ok('GET', `/flags?feature_id=${feature.id}`)
    const entitlement = {
      feature_id: feature.id,
      value_type: 'credit',
      value_credit_id: creditId,
      credit_consumption_rate: rate,
      price_behavior: 'credit_burndown',
    }
    const plan = await publishedPlan(this.client, `Plan ${subtype}`, [entitlement])
    for (const grant of grants)
      await this.client.ok('POST', '/billing/credits/plan-grants', {
        plan_id: plan.id,
        credit_id: creditId,
        reset_cadence: 'monthly',
        reset_start: 'billing_period',
        ...grant,
      })
    const published = grants.length === 0 ? plan : await publishDraftOf(this.client, plan.id)
    return { subtype, feature, flag, plan: published }
  }

  track(event: string, company: object, more: object = {}, outer: object = {}): Promise<Body> {
    return this.client.ok('POST', '/events', {
      event_type: 'track',
      body: { event, company, ...more },
      ...outer,
    })
  }

  async balance(companyId: string, creditId: string) {
    const all = await this.client.ok('GET', `/billing/credits/balance?company_id=${companyId}`)
    const found = all.find((one: Body) => one.credit_id === creditId)
    return found ? [found.remaining, found.reserved, found.settled] : [0, 0, 0]
  }

  grants(companyId: string, query = ''): Promise<Body[]> {
    return this.client.ok('GET', `/billing/credits/grants/company/list?company_id=${companyId}&${query}`)
  }

  async ledger(companyId: string, query = ''): Promise<Body[]> {
    const all: Body[] = []
    for (;;) {
      const path = `/v2/billing/credits/ledger?company_id=${companyId}&limit=250&offset=${all.length}&${query}`
      const rows = await this.client.ok('GET', path)
      all.push(...rows)
      if (rows.length < 250) return all
    }
  }

  /** CR-88 a and b: the ledger sums to the balance, and per grant to what it has left. One assertion. */
  async agrees(t: Test, companyId: string, creditId: string, title: string): Promise<void> {
    const [remaining] = await this.balance(companyId, creditId)
    const entries = await this.ledger(companyId, `billing_credit_id=${creditId}`)
    const perGrant = new Map<string, number>()
    for (const { grant_id, amount } of entries)
      perGrant.set(grant_id, (perGrant.get(grant_id) ?? 0) + Math.round(amount * 1e6))
    const grants = (await this.grants(companyId, 'limit=250')).filter(one => one.credit_id === creditId)
    t.same(
      {
        sum: entries.reduce((sum, { amount }) => sum + Math.round(amount * 1e6), 0),
        grants: Object.fromEntries(grants.map(one => [one.id, perGrant.get(one.id) ?? 0])),
        sequences: new Set(entries.map(one => one.source_id)).size,
      },
      {
        sum: Math.round(remaining * 1e6),
        grants: Object.fromEntries(grants.map(one => [one.id, Math.round(one.quantity_remaining * 1e6)])),
        sequences: entries.length,
      },
      title,
    )
  }

  /** Put the environment's test clock to an instant, frozen. */
  async clock(now: string | null): Promise<void> {
    const { environment_id: id } = await this.client.ok('GET', '/whoami')
    if (now === null) await this.client.ok('DELETE', `/environments/${id}/clock`)
    else await this.client.ok('PUT', `/environments/${id}/clock`, { now, frozen: true })
  }
}
