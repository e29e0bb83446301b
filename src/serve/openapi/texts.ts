// Texts and examples of the OpenAPI document that do not come from schemas.
import { rateLimitBuckets } from '../../../schemas/enums.js'
import { defaultLimits } from '../../front/http/admission/limits.js'

/** An example of an operation, by its name in `Operations`. A test checks each against its schema. */
interface Example {
  readonly body?: unknown
  readonly data?: unknown
  readonly params?: Readonly<Record<string, unknown>>
}

const budgets = rateLimitBuckets
  .map(
    name =>
      `| \`${name}\` | ${defaultLimits[name].ratePerSecond} per second | ${defaultLimits[name].burst} |`,
  )
  .join('\n')

/** Introduction, shown before the operations. */
export const introduction = `Tollgate evaluates entitlements and feature flags, meters usage, and accounts for credits.

**Begin here.** Send a key with *Authorize*, then execute these as they stand: \`POST /features\`, \`POST /companies\`, \`POST /events\`, \`POST /flags/{key}/check\`, \`GET /companies/lookup\`. The guides and tasks above each lead to one thing, command by command.

<details>
<summary>Keys, responses, errors, rate limits</summary>

**Keys.** Every request except those of the group Operation carries an API key in \`X-Service-Api-Key\`. A key belongs to one environment or to the whole account. With an account-wide key, \`X-Service-Environment-Id\` names the environment.

**Responses** are \`{"data": …, "params": …}\`; \`params\` echoes the path and query parameters. Times are RFC 3339 in UTC with milliseconds. Lists take \`limit\` (default 100, at most 250) and \`offset\`.

**Errors** are \`{"error": "…"}\` with one of the statuses 400, 401, 402, 403, 404, 409, 411, 412, 429, 431, 500, 503. A 429 names its \`bucket\`. A 503 means overload or a store that is down: retry after \`Retry-After\` seconds. A write that hears 503 was not made; one that was made while its store went away answers 202 with \`{"taken": true}\` and need not be sent again. An event sent again with its \`idempotency_key\` is counted once.

**Rate limits** of an account, by default. Production environments have their own \`global\` and \`mutation\` buckets:

| bucket | rate | burst |
|---|---|---|
${budgets}

**Freshness.** The next check sees every acknowledged write.

</details>`

/** Descriptions of the groups of operations, in the order they are shown; other groups follow by name. */
export const tagTexts: Readonly<Record<string, string>> = {
  Companies: 'Companies (your customers), found by their keys, with traits, plans and members.',
  Users: 'Users, who belong to companies.',
  Features: 'Features, which plans entitle to and events count.',
  Flags: 'Flags, their rules, and checks.',
  Events: 'Track, identify and inference events. An acknowledged event is on disk.',
  Plans: 'Plans and add-ons: versions, grants and companies.',
  Entitlements: 'Grants of features by plans, and overrides for single companies.',
  Usage: 'Usage, now and over time.',
  Credits: 'Credit types, grants, holds and the ledger.',
  Billing: 'Records of the payment provider, synced to Tollgate, which takes no payments itself.',
  OpenFeature: 'The OpenFeature Remote Evaluation Protocol, for clients of any language.',
  Webhooks: 'Notifications of changes to your servers.',
  'Keys and traits': 'Key names of companies and users, and their traits.',
  Members: 'People of the account and their roles in the console.',
  Portal: "A company's own page: plan, use and credits, with a short-lived token.",
  Operation: 'For operators: no API key, no rate limits.',
}

/** Group by the first part of a path; other paths are their own groups. */
export const groups: Readonly<Record<string, string>> = {
  batch: 'Events',
  catalogs: 'Plans',
  charges: 'Billing',
  companies: 'Companies',
  'company-billing-entity': 'Billing',
  'company-billing-entity-subscriptions': 'Billing',
  'company-memberships': 'Companies',
  'company-overrides': 'Entitlements',
  'company-plans': 'Plans',
  'company-subscriptions': 'Billing',
  'company-traits': 'Companies',
  'custom-plan-billings': 'Billing',
  'custom-plan-bundles': 'Plans',
  'custom-plans': 'Plans',
  'entity-key-definitions': 'Keys and traits',
  'entity-keys': 'Keys and traits',
  'entity-trait-definitions': 'Keys and traits',
  'entity-trait-values': 'Keys and traits',
  'entity-traits': 'Keys and traits',
  'event-batch': 'Events',
  'event-types': 'Events',
  'feature-companies': 'Usage',
  'feature-usage': 'Usage',
  'feature-usage-history': 'Usage',
  'feature-usage-timeseries': 'Usage',
  'feature-users': 'Usage',
  licenses: 'Features',
  'manage-plan': 'Plans',
  ofrep: 'OpenFeature',
  'plan-bundles': 'Plans',
  'plan-changes': 'Plans',
  'plan-entitlements': 'Entitlements',
  'plan-groups': 'Plans',
  'plan-moves': 'Plans',
  'plan-traits': 'Plans',
  'plan-version-company-migrations': 'Plans',
  'plan-version-migrations': 'Plans',
  'scheduled-checkout': 'Plans',
  'usage-by-company': 'Usage',
  'user-traits': 'Users',
  'user-usage-by-company': 'Usage',
  'user-usage-detail': 'Usage',
  'webhook-events': 'Webhooks',
  'account-members': 'Members',
  'console-links': 'Members',
  portal: 'Portal',
  'temporary-access-tokens': 'Portal',
  whoami: 'API keys',
  'api-keys': 'API keys',
}

const cloudEvent = { $ref: '#/components/schemas/CloudEvent' }
const cloudEventBatch = { schema: { type: 'array', items: cloudEvent, maxItems: 10_000 } }
const line = { type: 'string', description: 'One event as JSON on each line.' }

/** Media types besides JSON that an operation accepts. */
export const otherBodies: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  'POST /event-batch': {
    'application/x-ndjson': { schema: line },
    'application/cloudevents-batch+json': cloudEventBatch,
  },
  'POST /events': {
    'application/cloudevents+json': { schema: cloudEvent },
    'application/cloudevents-batch+json': cloudEventBatch,
  },
}

const keys = { slug: 'acme' }
const limit = { value_type: 'numeric', value_numeric: 8000, metric_period: 'current_month' }
const checked = {
  flag: 'exports',
  flag_id: 'flag_7QmKc2sYh4D',
  value: true,
  reason: 'Matched plan entitlement rule "Starter" (rule_3hZb0PqWx9L)',
  rule_id: 'rule_3hZb0PqWx9L',
  rule_type: 'plan_entitlement',
  company_id: 'comp_5tRw8NdJk1V',
  user_id: null,
  error: null,
  feature_allocation: 1000,
  feature_usage: 412,
  feature_usage_event: 'export',
  feature_usage_period: 'current_month',
  feature_usage_reset_at: '2026-12-01T00:00:00.000Z',
}
const evaluated = {
  key: 'exports',
  value: true,
  variant: 'on',
  reason: 'TARGETING_MATCH',
  metadata: {
    reason: checked.reason,
    flag_id: checked.flag_id,
    rule_id: checked.rule_id,
    feature_allocation: 1000,
    feature_usage: 412,
  },
}
const acknowledged = {
  captured_at: '2026-11-20T06:05:54.981Z',
  event_id: 'evt_WTGsXb3gB7P',
  remote_addr: '127.0.0.1',
  remote_ip: '127.0.0.1',
  user_agent: 'curl/8.5.0',
}

export const examples: Readonly<Record<string, Example>> = {
  'POST /temporary-access-tokens': { body: { lookup: keys, resource_type: 'company' } },
  'POST /batch': {
    body: { events: [{ type: 'track', body: { event: 'export', company: keys } }] },
  },
  'POST /companies': { body: { keys, name: 'Acme', traits: { seats: 25 } } },
  'POST /company-overrides': {
    body: {
      company_id: checked.company_id,
      feature_id: 'feat_2bCe6FgHj8K',
      value_type: 'numeric',
      value_numeric: 5000,
      metric_period: 'current_month',
    },
  },
  'PUT /company-overrides': {
    body: { company_id: checked.company_id, feature_id: 'feat_2bCe6FgHj8K', ...limit },
  },
  'POST /company-overrides/{company_override_id}': { body: limit },
  'POST /company-traits': { body: { keys, trait: 'seats', incr: 1 } },
  'POST /event-batch': {
    body: {
      events: [
        { event_type: 'track', body: { event: 'export', company: keys } },
        {
          event_type: 'identify',
          body: { keys: { email: 'ada@acme.example' }, company: { keys, traits: { seats: 26 } } },
        },
      ],
    },
    data: { events: [acknowledged, { ...acknowledged, event_id: 'evt_4nLd7RsTu0X' }] },
  },
  'POST /events': {
    body: {
      event_type: 'track',
      body: { event: 'export', company: keys, quantity: 3 },
    },
    data: acknowledged,
  },
  'POST /features': {
    body: {
      name: 'Exports',
      event_subtype: 'export',
      flag: { key: 'exports' },
    },
  },
  'POST /flags': {
    body: {
      key: 'new-editor',
      name: 'New editor',
      description: '',
      flag_type: 'boolean',
      default_value: false,
    },
  },
  'POST /flags/check': { body: { company: keys }, data: { flags: [checked], credit_balances: {} } },
  'POST /flags/check-bulk': {
    body: { contexts: [{ company: keys }, { user: { email: 'ada@acme.example' } }] },
  },
  'POST /flags/{key}/check-and-reserve': {
    body: { company: keys, quantity: 20 },
  },
  'POST /flags/{key}/check': {
    body: { company: keys, preflight: { usage: 10 } },
    data: checked,
    params: { key: 'exports' },
  },
  'POST /ofrep/v1/evaluate/flags': {
    body: { context: { targetingKey: 'ada', company: keys } },
    data: { flags: [evaluated] },
  },
  'POST /ofrep/v1/evaluate/flags/{key}': {
    body: { context: { targetingKey: 'ada', company: keys } },
    data: evaluated,
  },
  'POST /plan-bundles': {
    body: {
      plan: { name: 'Starter', description: 'To begin with', plan_type: 'plan' },
      entitlements: [{ action: 'create', req: { plan_id: '', feature_id: 'feat_2bCe6FgHj8K', ...limit } }],
    },
  },
  'POST /plan-entitlements': {
    body: {
      plan_id: 'plan_9yUv1WxZa3B',
      feature_id: 'feat_2bCe6FgHj8K',
      value_type: 'numeric',
      value_numeric: 1000,
      metric_period: 'current_month',
    },
  },
  'POST /plans': {
    body: {
      name: 'Starter',
      entitlements: [{ feature_id: 'feat_2bCe6FgHj8K', value_numeric: 1000, metric_period: 'current_month' }],
      billing_product: { monthly_price: 1900 },
    },
  },
  'POST /manage-plan': { body: { company: keys, base_plan_id: 'plan_9yUv1WxZa3B' } },
  'POST /manage-plan/preview': { body: { company: keys, base_plan_id: 'plan_9yUv1WxZa3B' } },
  'PUT /plans/version/{plan_version_id}/publish': { body: {} },
  'POST /users': { body: { keys: { email: 'ada@acme.example' }, name: 'Ada', companies: [keys] } },
  'PUT /company-overrides/{company_override_id}': { body: limit },
  'PUT /company-plans/{company_id}': { body: { base_plan_id: 'plan_9yUv1WxZa3B', add_on_ids: [] } },
  'PUT /environments/{environment_id}/clock': { body: { offset_seconds: 86_400 } },
  'PUT /flags/{flag_id}/rules': {
    body: {
      rules: [
        {
          name: 'Starter',
          priority: 1,
          value: true,
          conditions: [{ condition_type: 'plan', operator: 'eq', resource_ids: ['plan_9yUv1WxZa3B'] }],
          condition_groups: [],
        },
      ],
    },
  },
  'PUT /plan-entitlements/{plan_entitlement_id}': { body: limit },
}
