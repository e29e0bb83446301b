// `tollgate mcp`: a server of the Model Context Protocol on standard input and output, over the typed client. It may do what
// its key may do; without `--write` it has no tool that changes anything.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'
import { Tollgate, TollgateError } from '../../clients/typescript/src/index.js'
import type { Target } from './client.js'

/** Time limit of a check, ms. */
const checkMs = 10_000
/** Most characters of one result. A longer one is cut, and says so. */
const textMax = 60_000

/** Characters of a line about a message that is none: its reader's reasons may be long. */
const noteMax = 200

/** An answer of a typed call. */
interface Answered {
  readonly data?: { readonly data: unknown } | undefined
  readonly error?: unknown
  readonly response: Response
}

interface Result {
  [member: string]: unknown
  content: { type: 'text'; text: string }[]
  isError?: boolean
}

const text = (value: string, isError = false): Result => ({
  content: [{ type: 'text', text: value }],
  ...(isError && { isError }),
})

/** A result as JSON, cut at the bound, because a model reads all of it. */
function shown(value: unknown): Result {
  const json = JSON.stringify(value, null, 1)
  if (json.length <= textMax) return text(json)
  return text(
    `${json.slice(0, textMax)}\n… cut at ${textMax} of ${json.length} characters: ask for less (limit, offset, q)`,
  )
}

/** `data` of a call, or its error as a result: the model reads what was wrong and tries again. */
async function result(call: Promise<Answered>): Promise<Result> {
  const { data, error, response } = await call
  if (data !== undefined) return shown(data.data)
  const { error: message } = (error ?? {}) as { readonly error?: string }
  return text(`${response.status}: ${message ?? 'no reason was given'}`, true)
}

/** Failures of the client as results. */
async function tried(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof TollgateError) return text(`${error.code}: ${error.message}`, true)
    throw error
  }
}

const keys = (whose: string) =>
  z.record(z.string(), z.string()).describe(`Keys of the ${whose}, e.g. {"slug": "acme"}`)
const page = {
  q: z.string().optional().describe('Words in the name'),
  limit: z.number().int().min(1).max(250).default(25),
  offset: z.number().int().min(0).default(0),
}
const reads = { readOnlyHint: true, openWorldHint: false }
const writes = { readOnlyHint: false, openWorldHint: false }

function addReads(server: McpServer, { api }: Tollgate): void {
  const paged = (limit: number, offset: number, q: string | undefined) => ({ limit, offset, ...(q && { q }) })
  server.registerTool(
    'find_companies',
    {
      description: 'List companies, newest first, with their keys, plan and entitlements.',
      inputSchema: page,
      annotations: reads,
    },
    ({ q, limit, offset }) =>
      tried(() => result(api.GET('/companies', { params: { query: paged(limit, offset, q) } }))),
  )
  server.registerTool(
    'get_company',
    {
      description:
        'One company by its keys or id: plan, traits, entitlements with usage, rules that concern it.',
      inputSchema: { keys: keys('company').optional(), id: z.string().optional().describe('comp_…') },
      annotations: reads,
    },
    given =>
      tried(async () => {
        if (given.id !== undefined)
          return result(api.GET('/companies/{company_id}', { params: { path: { company_id: given.id } } }))
        if (given.keys === undefined) return text('Give keys or id', true)
        return result(api.GET('/companies/lookup', { params: { query: { keys: given.keys } } }))
      }),
  )
  server.registerTool(
    'list_plans',
    {
      description: 'Plans and add-ons with their entitlements and prices.',
      inputSchema: page,
      annotations: reads,
    },
    ({ q, limit, offset }) =>
      tried(() => result(api.GET('/plans', { params: { query: paged(limit, offset, q) } }))),
  )
  server.registerTool(
    'get_plan',
    {
      description: 'One plan with its entitlements.',
      inputSchema: { id: z.string().describe('plan_…') },
      annotations: reads,
    },
    ({ id }) => tried(() => result(api.GET('/plans/{plan_id}', { params: { path: { plan_id: id } } }))),
  )
  server.registerTool(
    'list_features',
    {
      description: 'Features: their type, the event they count, and the flags that open them.',
      inputSchema: page,
      annotations: reads,
    },
    ({ q, limit, offset }) =>
      tried(() => result(api.GET('/features', { params: { query: paged(limit, offset, q) } }))),
  )
  server.registerTool(
    'list_flags',
    { description: 'Flags with their rules.', inputSchema: page, annotations: reads },
    ({ q, limit, offset }) =>
      tried(() => result(api.GET('/flags', { params: { query: paged(limit, offset, q) } }))),
  )
  server.registerTool(
    'list_credits',
    {
      description: 'Kinds of credits.',
      inputSchema: { limit: page.limit, offset: page.offset },
      annotations: reads,
    },
    ({ limit, offset }) =>
      tried(() => result(api.GET('/billing/credits', { params: { query: { limit, offset } } }))),
  )
  server.registerTool(
    'whoami',
    { description: 'The key of this server: its scopes and environment.', annotations: reads },
    () => tried(() => result(api.GET('/whoami', {}))),
  )
}

function addChecks(server: McpServer, client: Tollgate): void {
  const context = { company: keys('company').optional(), user: keys('user').optional() }
  server.registerTool(
    'explain_access',
    {
      description:
        'Why a company or user may use a feature or not: the value of the flag now, the rule and entitlement that ' +
        'decided, limit, usage and when it resets.',
      inputSchema: {
        flag: z.string().describe('Key of the flag'),
        ...context,
        quantity: z.number().int().min(0).optional().describe('Units that are about to be used'),
      },
      annotations: reads,
    },
    ({ flag, company, user, quantity }) =>
      tried(async () => {
        const preflight = quantity === undefined ? null : { usage: quantity }
        return shown(
          await client.check(flag, { company, user }, { order: ['http'], preflight, timeoutMs: checkMs }),
        )
      }),
  )
  server.registerTool(
    'company_standing',
    {
      description: 'All flags of a company or user at one moment, its plan and its credit balances.',
      inputSchema: context,
      annotations: reads,
    },
    ({ company, user }) => tried(async () => shown(await client.standing({ company, user }))),
  )
}

function addUsage(server: McpServer, { api }: Tollgate): void {
  server.registerTool(
    'read_usage',
    {
      description: 'Usage of each feature by a company in its present period, with the limit.',
      inputSchema: { company: keys('company'), limit: page.limit, offset: page.offset },
      annotations: reads,
    },
    ({ company, limit, offset }) =>
      tried(() =>
        result(api.GET('/feature-usage', { params: { query: { company_keys: company, limit, offset } } })),
      ),
  )
  server.registerTool(
    'read_usage_over_time',
    {
      description: 'Usage of one feature by a company over time.',
      inputSchema: {
        company_id: z.string().describe('comp_…'),
        feature_id: z.string().describe('feat_…'),
        from: z.string().describe('RFC 3339, inclusive'),
        to: z.string().describe('RFC 3339, exclusive'),
        granularity: z.enum(['hourly', 'daily', 'weekly', 'monthly']).default('daily'),
      },
      annotations: reads,
    },
    ({ company_id, feature_id, from, to, granularity }) =>
      tried(() => {
        const query = { company_id, feature_id, start_time: from, end_time: to, granularity }
        return result(api.GET('/feature-usage-timeseries', { params: { query } }))
      }),
  )
}

function addWrites(server: McpServer, client: Tollgate): void {
  addWritesOfPlans(server, client)
  addWritesOfUse(server, client)
}

const companyId = z.string().describe('comp_…')

/** Tools that change a company, its plan and its limits. */
function addWritesOfPlans(server: McpServer, { api }: Tollgate): void {
  server.registerTool(
    'upsert_company',
    {
      description: 'Create a company, or change its name and traits.',
      inputSchema: {
        keys: keys('company'),
        name: z.string().optional(),
        traits: z.record(z.string(), z.unknown()).optional(),
      },
      annotations: writes,
    },
    body => tried(() => result(api.POST('/companies', { body }))),
  )
  server.registerTool(
    'set_company_plan',
    {
      description: 'Put a company on a plan; null: on the fallback plan.',
      inputSchema: { company_id: companyId, plan_id: z.string().nullable().describe('plan_…') },
      annotations: writes,
    },
    ({ company_id, plan_id }) =>
      tried(() => {
        const named = { params: { path: { company_id } }, body: { base_plan_id: plan_id } }
        return result(api.PUT('/company-plans/{company_id}', named))
      }),
  )
  server.registerTool(
    'override_entitlement',
    {
      description: 'Give one company another limit of a feature than its plan does.',
      inputSchema: {
        company_id: companyId,
        feature_id: z.string().describe('feat_…'),
        value_type: z.enum(['boolean', 'numeric', 'unlimited']),
        value_bool: z.boolean().optional(),
        value_numeric: z.number().int().min(0).optional(),
        metric_period: z.enum(['all_time', 'current_day', 'current_week', 'current_month']).optional(),
        note: z.string().optional(),
      },
      annotations: writes,
    },
    body => tried(() => result(api.POST('/company-overrides', { body }))),
  )
}

/** Tools that give credits and report use. */
function addWritesOfUse(server: McpServer, { api }: Tollgate): void {
  server.registerTool(
    'grant_credits',
    {
      description: 'Give credits to a company.',
      inputSchema: {
        company_id: companyId,
        credit_id: z.string(),
        quantity: z.number().positive(),
        reason: z.enum(['free', 'adjustment', 'purchased']).default('free'),
        expires_at: z.string().optional().describe('RFC 3339'),
      },
      annotations: writes,
    },
    body => tried(() => result(api.POST('/billing/credits/grants/company', { body }))),
  )
  server.registerTool(
    'track_usage',
    {
      description: 'Report use of a feature by its event. The same idempotency key again counts once.',
      inputSchema: {
        event: z.string(),
        company: keys('company'),
        quantity: z.number().int().default(1),
        idempotency_key: z.string().optional(),
      },
      annotations: writes,
    },
    ({ event, company, quantity, idempotency_key }) =>
      tried(() =>
        result(
          api.POST('/events', {
            body: {
              event_type: 'track',
              body: { event, company, quantity },
              idempotency_key: idempotency_key ?? null,
            },
          }),
        ),
      ),
  )
}

/**
 * Serve tools until the input ends.
 *
 * write  also those that change something, as far as the key may.
 * note   takes lines beside the protocol, to which standard output belongs. A message of more than 10 MiB ends the server.
 */
export async function serveMcp(
  target: Target,
  write: boolean,
  version: string,
  note: (line: string) => void,
): Promise<void> {
  const client = new Tollgate({
    url: target.url,
    key: target.key,
    environmentId: target.environment,
    httpMs: checkMs,
    logger: { warn: note, error: note },
  })
  const instructions =
    'Tollgate decides what companies may use, counts usage and keeps credits. Companies and users are named by keys ' +
    `such as {"slug": "acme"}. ${write ? 'Some tools change things at once.' : 'No tool changes anything.'}`
  const server = new McpServer({ name: 'tollgate', version }, { instructions })
  addReads(server, client)
  addChecks(server, client)
  addUsage(server, client)
  if (write) addWrites(server, client)
  server.server.onerror = ({ message }) => note(`A message was not read: ${message.slice(0, noteMax)}`)
  const ended = new Promise<void>(resolve => {
    server.server.onclose = resolve
    process.stdin.once('end', resolve)
  })
  await server.connect(new StdioServerTransport())
  await ended
  await server.close()
  await client.close(1_000)
}
