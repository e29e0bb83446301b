// Writes under an idempotency key (decision 37): the key of a request, what it was sent with, and its answer again.
import { createHash } from 'node:crypto'
import type { Sql } from 'postgres'
import { isQuestion } from '../../../core/model/message.js'
import type { Claim, KeptAnswer } from '../../../entities/idempotency/paid-writes.js'
import type { Shards } from '../../../entities/shards/shards.js'
import { ServiceError } from '../../../errors.js'
import type { Answer } from '../../../kit/call.js'
import type { Services } from '../../../kit/services.js'
import type { Route } from '../routing/route.js'
import { awaited, takenAnswer } from './begin-anew.js'
import type { Request } from './request.js'
import { bytesOf, echoed, success } from './respond.js'

/** In lower case, as heads give it. */
export const idempotencyHeader = 'idempotency-key'
/** An answer that is longer is not kept whole: a repetition hears that the change was made. */
const keptLengthMax = 1_048_576
const keyPattern = /^[\x21-\x7e]{1,255}$/

/** A request as it was sent. */
export interface Asked {
  /** Value of the header; '' without one. */
  readonly header: string
  readonly path: string
  readonly query: string
  readonly text: string
}

/**
 * The idempotency key of a request: of the header, or of the body's member.
 *
 * errors  value_invalid (400) for a header that is no key, and for two that differ.
 */
function idempotencyKeyOf(header: string, body: unknown): string | null {
  const inBody = memberOf(body)
  if (header === '') return inBody
  if (!keyPattern.test(header))
    throw new ServiceError(
      'value_invalid',
      'Idempotency-Key: one key of 1 to 255 visible ASCII characters without spaces',
    )
  if (inBody !== null && inBody !== header)
    throw new ServiceError('value_invalid', 'idempotency_key: differs from the header Idempotency-Key')
  return header
}

function memberOf(body: unknown): string | null {
  const had = typeof body === 'object' && body !== null && 'idempotency_key' in body
  return had && typeof body.idempotency_key === 'string' && body.idempotency_key !== ''
    ? body.idempotency_key
    : null
}

/**
 * Handle a request under its key: once, and its first answer for every repetition within 24 hours. null: it has no key.
 *
 * An answer of 4xx, and one that made nothing, is not kept: the key is free again, so the same request may succeed
 * later, and a corrected one takes the same key. A 5xx is not kept either; the next request with the key finds out
 * whether the change was made.
 *
 * errors  idempotency_reused (409) for another request under the key; those of PaidWrites.run and of the handler.
 * source  decision 37.
 */
export function once(
  route: Route,
  call: Request,
  asked: Asked,
  echo: Readonly<Record<string, unknown>>,
): Promise<Answer> | null {
  const key = idempotencyKeyOf(asked.header, call.body)
  return key === null ? null : handled(route, call, key, asked, echo)
}

async function handled(
  route: Route,
  call: Request,
  key: string,
  asked: Asked,
  echo: Readonly<Record<string, unknown>>,
): Promise<Answer> {
  const { services, environment, params, nowMs } = call
  // such a handler keeps its own key in the journal, and goes on while Postgres is away; the header says what the member does
  const holds = route.keyed !== 'once' && route.keyed !== 'anew'
  const own = holds ? call.withBody({ ...(call.body as object), idempotency_key: key }) : call
  if (holds && !(await isThere(services))) return awaited(route.handle(own))
  const write = {
    environmentId: environment.id,
    keyKind: call.key.kind,
    key: holds ? `${route.keyed} ${key}` : key,
    fingerprint: fingerprintOf(route, asked),
    nowMs,
  }
  const repeats = route.keyed !== 'once'
  const outcome = await services.paidWrites.run(services.sql, write, repeats, async claim => {
    const answer = await awaited(route.handle(claimed(own, claim)))
    const kept = answer.madeNothing === true ? null : keptOf(answer, route, echo, params)
    return { value: answer, kept }
  })
  return 'value' in outcome ? outcome.value : again(outcome.replayed)
}

async function isThere({ postgres }: Services): Promise<boolean> {
  try {
    await postgres?.proven()
    return true
  } catch {
    return false
  }
}

const replayedHeader = { 'Idempotency-Replayed': 'true' }

function again({ status, body, headers }: KeptAnswer): Answer {
  if (body === null) return { ...takenAnswer, headers: replayedHeader }
  return { status, whole: body, headers: { ...headers, ...replayedHeader } }
}

function keptOf(
  answer: Answer,
  route: Route,
  echo: Readonly<Record<string, unknown>>,
  params: Readonly<Record<string, string>>,
): KeptAnswer {
  const reply = success(answer, route.status, echoed(echo, params), '')
  const body = reply.pieces === undefined ? reply.body : bytesOf(reply.pieces).toString()
  if (body.length > keptLengthMax) return { status: takenAnswer.status!, body: null, headers: null }
  return { status: reply.status, body, headers: answer.headers ?? null }
}

/** Messages that follow a change, or finish an earlier one: they are not the change that the key stands for. */
const followUps: ReadonlySet<string> = new Set(['cycle_counted', 'drop_subscription'])

/** The same request, whose changes carry the claim: in the journal, or in the transaction of the change. */
function claimed(call: Request, claim: Claim): Request {
  const { shards, catalogs, paidWrites } = call.services
  const ask = async <Reply>(
    ...[kind, environmentId, id, message, nowMs, fresh]: Parameters<Shards['ask']>
  ) => {
    if (isQuestion(message) || followUps.has(message.type))
      return shards.ask<Reply>(kind, environmentId, id, message, nowMs, fresh)
    const answered = await shards.ask<Reply>(kind, environmentId, id, message, nowMs, fresh, claim.id)
    claim.made = true
    return answered
  }
  const mark = async (tx: Sql) => {
    await paidWrites.mark(tx, claim.id)
    claim.made = true
  }
  const services: Services = {
    ...call.services,
    // its other members are those of the shards themselves
    shards: Object.assign(Object.create(shards) as Shards, { ask }),
    catalogs: {
      get: id => catalogs.get(id),
      change: (scope, work) =>
        catalogs.change(scope, async tx => {
          const result = await work(tx)
          await mark(tx)
          return result
        }),
    },
  }
  return call.under(services, mark)
}

/** The print of a request without its key, which header and member may say. */
function fingerprintOf({ method, path: pattern }: Route, { path, query, text }: Asked): string {
  const parts = [method, pattern, path, query, text === '' ? '' : canonical(text, 'idempotency_key')]
  return createHash('sha256').update(parts.join('\n')).digest('hex')
}

/**
 * JSON text with sorted members and without spaces; numbers and texts as written. Two requests that say the same in
 * another order are one. Members of one name keep their order: the last one counts.
 *
 * without  the name of a member of the whole that is left out.
 */
export function canonical(text: string, without = ''): string {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? []
  let at = 0
  const value = (): string => {
    const token = tokens[at++] ?? ''
    if (token === '[') return `[${list(']', value).join(',')}]`
    if (token !== '{') return token
    const isWhole = at === 1
    const members = list('}', () => {
      const name = JSON.parse(tokens[at++] ?? '""') as string
      at++
      return { name, said: value() }
    })
    const kept = members.filter(({ name }) => !isWhole || without === '' || name !== without)
    kept.sort((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0))
    return `{${kept.map(({ name, said }) => `${JSON.stringify(name)}:${said}`).join(',')}}`
  }
  const list = <Item>(end: string, item: () => Item): Item[] => {
    const items: Item[] = []
    while (at < tokens.length && tokens[at] !== end) {
      if (tokens[at] === ',') at++
      else items.push(item())
    }
    at++
    return items
  }
  return value()
}
