// Requests of the benchmarks over HTTP, and their set-up.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endedWithUs } from '../interrupted.js'
import { here, post, type Runtime, secret } from '../product.js'
import { root } from '../record.js'

export interface Scenario {
  readonly name: string
  readonly path: string
  readonly body: string
  /** Items in one request. */
  readonly items: number
  readonly unit: string
  /** Least share of the bare route, as a goal; null where the goal is another figure. */
  readonly goal: number | null
  /** Flags the environment has by then, at least. */
  readonly flags?: number
  /** Connections of the load generator; 64 by default. */
  readonly connections?: number
}

const company = { id: 'acme-corporation-1' }
const user = { id: 'someone-at-acme-1' }
const companies = Array.from({ length: 100 }, (_, index) => ({ id: `acme-corporation-${index + 1}` }))
const track = { event_type: 'track', body: { event: 'api_call', company, user, quantity: 1 } }

export const scenarios: readonly Scenario[] = [
  {
    name: 'flag check, 2 rules / 3 conditions',
    path: '/flags/bench-flag/check',
    body: JSON.stringify({ company, user }),
    items: 1,
    unit: 'checks/s',
    goal: 0.75,
  },
  {
    name: 'one event, durable',
    path: '/events',
    body: JSON.stringify(track),
    items: 1,
    unit: 'events/s',
    goal: 0.5,
  },
  {
    // events that wait for the disk at the same time share one write: durable writes want many senders
    name: 'one event, durable, 256 connections',
    path: '/events',
    body: JSON.stringify(track),
    items: 1,
    unit: 'events/s',
    goal: 0.5,
    connections: 256,
  },
  {
    name: 'one event, durable, 512 connections',
    path: '/events',
    body: JSON.stringify(track),
    items: 1,
    unit: 'events/s',
    goal: 0.5,
    connections: 512,
  },
  {
    name: 'batch of 500 events, durable',
    path: '/event-batch',
    body: JSON.stringify({ events: Array.from({ length: 500 }, () => track) }),
    items: 500,
    unit: 'events/s',
    goal: null,
  },
  {
    name: 'all of 50 flags, one context',
    path: '/flags/check',
    body: JSON.stringify({ company, user }),
    items: 50,
    unit: 'flags/s',
    goal: null,
    flags: 50,
  },
  {
    name: 'bulk check, 100 contexts × 100 flags',
    path: '/flags/check-bulk',
    body: JSON.stringify({ contexts: companies.map(one => ({ company: one, user })) }),
    items: 10_000,
    unit: 'flags/s',
    goal: null,
    flags: 100,
    connections: 2,
  },
]

/** The load generator's script for a scenario, in a folder for the while. */
export function writeScript({ body }: Pick<Scenario, 'body'>, work: string): string {
  const script = join(work, 'post.lua')
  writeFileSync(script, luaOf(writeBody(join(work, 'body.json'), body)))
  return script
}

/** A body in a file, for those who read it there. */
export function writeBody(path: string, body: string): string {
  writeFileSync(path, body)
  return path
}

function luaOf(bodyFile: string): string {
  return [
    'wrk.method = "POST"',
    'wrk.headers["Content-Type"] = "application/json"',
    `wrk.headers["X-Service-Api-Key"] = "${secret}"`,
    `local file = io.open("${bodyFile}", "rb")`,
    'wrk.body = file:read("*a")',
    'file:close()',
  ].join('\n')
}

/** A program that listens. */
export interface Bare {
  readonly child: ChildProcess
  readonly port: number
}

/** A route that does nothing, with replies of a size. */
export async function startBare(replyBytes: number, { node, http }: Runtime = here): Promise<Bare> {
  return startListening('bench/http/bare.js', ['0', String(replyBytes), http], node)
}

/** Start a built program that prints the port it listens on. */
export async function startListening(
  program: string,
  args: readonly string[],
  node = process.execPath,
): Promise<Bare> {
  const child = endedWithUs(spawn(node, [join(root, 'dist', program), ...args]))
  const [line] = (await once(child.stdout!, 'data')) as [Buffer]
  return { child, port: Number(/listening (\d+)/.exec(line.toString())?.[1]) }
}

/** Companies and a user, and the flag that is checked. */
export async function prepare(port: number): Promise<void> {
  const identify = {
    event_type: 'identify',
    body: {
      keys: user,
      name: 'Someone',
      traits: { role: 'admin' },
      company: { keys: company, name: 'Acme', traits: { seats: 12, region: 'eu' } },
    },
  }
  await post(port, '/events', JSON.stringify(identify))
  const others = companies.map(keys => ({
    event_type: 'identify',
    body: { keys: user, company: { keys, traits: { seats: 12, region: 'eu' } } },
  }))
  await post(port, '/event-batch', JSON.stringify({ events: others }))
  await makeFlag(port, 'bench-flag')
}

/** A flag with two rules and three conditions; the company meets the second. */
export async function makeFlag(port: number, key: string): Promise<void> {
  const made = JSON.parse(
    await post(
      port,
      '/flags',
      JSON.stringify({
        key,
        name: key,
        description: 'What the benchmark checks',
        flag_type: 'boolean',
        default_value: false,
      }),
    ),
  ) as { data: { id: string } }
  const condition = (operator: string, value: number) => ({
    condition_type: 'metric',
    operator,
    resource_ids: [],
    event_subtype: 'api_call',
    metric_period: 'all_time',
    metric_value: value,
  })
  const rule = (priority: number, conditions: readonly object[]) => ({
    name: `rule ${priority}`,
    priority,
    rule_type: 'standard',
    value: true,
    conditions,
    condition_groups: [],
  })
  const rules = [rule(1, [condition('lt', 0), condition('gte', 0)]), rule(2, [condition('gte', 0)])]
  await post(port, `/flags/${made.data.id}/rules`, JSON.stringify({ rules }), 'PUT')
}
