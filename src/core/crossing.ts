// Requests and replies on their way between threads. Cloning an object spells out every member's name, and reading it
// back costs three times as much as writing it; so what is posted together is one flat list of values, in which the two
// hot kinds of request are spelled out and the rest lies as it is.
import { type EventType, eventTypes } from '../../schemas/enums.js'
import type { AcceptedEvent, CheckContext, IngestItem, Question, Refusal, ShardRequest } from './message.js'

/** What one post carries: requests one after the other, or replies. */
export type Cells = readonly unknown[]

const plain = 0
const events = 1
const check = 2
const checkAll = 3

const kinds = ['c', 'u', 'e'] as const
const typeNumbers = new Map<EventType, number>(eventTypes.map((type, number) => [type, number]))

/** Values of one event in the list. */
const cellsPerEvent = 11

/** Members of an event that few events have; null where it has none of them. */
type Unusual = readonly [
  mode: AcceptedEvent['mode'],
  capturedAtMs: number,
  sentAtMs: number | null,
  failure: string | null,
  derivedFrom: string | null,
  leaseId: string | null,
  reservationId: string | null,
  inference: AcceptedEvent['inference'],
  fresh: boolean,
]

/** Requests that leave together; `unpack` gives equal ones, in order. */
export class Packing {
  cells: unknown[] = []
  /** Said once for all requests that follow each other with the same. */
  private env = ''
  private apiKeyId = ''

  add(request: ShardRequest): void {
    if ('events' in request) this.addEvents(request)
    else if ('m' in request && (request.m.type === 'check' || request.m.type === 'check_all'))
      this.addCheck(request, request.m)
    else this.cells.push(plain, request)
  }

  /** What was added, to be posted; begins anew. */
  take(): Cells {
    const { cells } = this
    this.cells = []
    this.env = ''
    this.apiKeyId = ''
    return cells
  }

  private addEvents(request: Extract<ShardRequest, { readonly events: unknown }>): void {
    const { cells } = this
    const first = request.events[0]!
    const { apiKeyId, receivedAtMs } = first.m.event
    cells.push(
      events,
      request.n,
      request.at,
      this.sameEnv(first.env),
      apiKeyId === this.apiKeyId ? null : apiKeyId,
      receivedAtMs === request.at ? null : receivedAtMs,
      request.events.length,
    )
    this.apiKeyId = apiKeyId
    for (const item of request.events) {
      const { event } = item.m
      cells.push(
        kinds.indexOf(item.k),
        item.id,
        event.id,
        typeNumbers.get(event.type),
        event.subtype,
        event.body,
        event.quantity,
        event.idempotencyKey,
        event.userId,
        event.companyId === item.id ? true : event.companyId,
        unusual(item),
      )
    }
  }

  private addCheck(
    request: Extract<ShardRequest, { readonly m: unknown }>,
    m: Extract<Question, { readonly type: 'check' | 'check_all' }>,
  ): void {
    const { cells } = this
    const { context } = m
    cells.push(
      m.type === 'check' ? check : checkAll,
      request.n,
      request.at,
      kinds.indexOf(request.k),
      request.id === request.env ? null : request.id,
      this.sameEnv(request.env),
      (context.companyGiven ? 1 : 0) + (context.userGiven ? 2 : 0),
      context.userId,
      context.userTraits,
    )
    addKeys(cells, context.companyKeys)
    addKeys(cells, context.userKeys)
    if (m.type === 'check') cells.push(m.flagKey, m.preflight)
  }

  private sameEnv(env: string): string | null {
    if (env === this.env) return null
    this.env = env
    return env
  }
}

function unusual({ fresh, m: { event } }: IngestItem): Unusual | null {
  if (
    !fresh &&
    event.mode === 'normal' &&
    event.capturedAtMs === event.receivedAtMs &&
    event.sentAtMs === null &&
    event.failure === null &&
    event.derivedFrom === null &&
    event.leaseId === null &&
    event.reservationId === null &&
    event.inference === null
  )
    return null
  return [
    event.mode,
    event.capturedAtMs,
    event.sentAtMs,
    event.failure,
    event.derivedFrom,
    event.leaseId,
    event.reservationId,
    event.inference,
    fresh,
  ]
}

// Their number, then name and value of each; -1 for none at all.
function addKeys(cells: unknown[], keys: CheckContext['companyKeys']): void {
  if (keys === null) {
    cells.push(-1)
    return
  }
  const at = cells.push(0) - 1
  let count = 0
  for (const name of Object.keys(keys)) {
    cells.push(name, keys[name])
    count++
  }
  cells[at] = count
}

/** Hand over every request of one post, in order; what is not asked for yet is not unpacked yet. */
export function unpack(cells: Cells, take: (request: ShardRequest) => void): void {
  const reading = new Unpacking(cells)
  for (let request = reading.next(); request !== null; request = reading.next()) take(request)
}

class Unpacking {
  private at = 0
  private env = ''
  private apiKeyId = ''

  constructor(private readonly cells: Cells) {}

  next(): ShardRequest | null {
    if (this.at >= this.cells.length) return null
    const kind = this.cells[this.at++] as number
    if (kind === plain) return this.cells[this.at++] as ShardRequest
    return kind === events ? this.events() : this.check(kind)
  }

  private events(): ShardRequest {
    const { cells } = this
    let { at } = this
    const n = cells[at++] as number
    const nowMs = cells[at++] as number
    const env = this.sameEnv(cells[at++] as string | null)
    this.apiKeyId = (cells[at++] as string | null) ?? this.apiKeyId
    const receivedAtMs = (cells[at++] as number | null) ?? nowMs
    const count = cells[at++] as number
    const items: IngestItem[] = []
    for (let i = 0; i < count; i++, at += cellsPerEvent)
      items.push(readEvent(cells, at, env, this.apiKeyId, receivedAtMs))
    this.at = at
    return { n, at: nowMs, events: items }
  }

  private check(kind: number): ShardRequest {
    const { cells } = this
    let { at } = this
    const n = cells[at++] as number
    const nowMs = cells[at++] as number
    const k = kinds[cells[at++] as number]!
    const id = cells[at++] as string | null
    const env = this.sameEnv(cells[at++] as string | null)
    const given = cells[at++] as number
    const userId = cells[at++] as string | null
    const userTraits = cells[at++] as CheckContext['userTraits']
    const companyKeys = readKeys(cells, at)
    at += 1 + 2 * Math.max(0, cells[at] as number)
    const userKeys = readKeys(cells, at)
    at += 1 + 2 * Math.max(0, cells[at] as number)
    const context: CheckContext = {
      companyGiven: (given & 1) !== 0,
      userGiven: (given & 2) !== 0,
      companyKeys,
      userKeys,
      userId,
      userTraits,
    }
    let m: Question = { type: 'check_all', context }
    if (kind === check) {
      const flagKey = cells[at++] as string
      const preflight = cells[at++] as Extract<Question, { readonly type: 'check' }>['preflight']
      m = { type: 'check', flagKey, preflight, context }
    }
    this.at = at
    return { n, k, id: id ?? env, env, at: nowMs, fresh: false, m }
  }

  private sameEnv(env: string | null): string {
    if (env !== null) this.env = env
    return this.env
  }
}

function readEvent(
  cells: Cells,
  at: number,
  env: string,
  apiKeyId: string,
  receivedAtMs: number,
): IngestItem {
  const id = cells[at + 1] as string
  const companyId = cells[at + 9] as string | null | true
  const rare = cells[at + 10] as Unusual | null
  const event: AcceptedEvent = {
    id: cells[at + 2] as string,
    type: eventTypes[cells[at + 3] as number]!,
    subtype: cells[at + 4] as string | null,
    body: cells[at + 5] as string,
    quantity: cells[at + 6] as number,
    mode: rare === null ? 'normal' : rare[0],
    capturedAtMs: rare === null ? receivedAtMs : rare[1],
    sentAtMs: rare === null ? null : rare[2],
    receivedAtMs,
    apiKeyId,
    idempotencyKey: cells[at + 7] as string | null,
    companyId: companyId === true ? id : companyId,
    userId: cells[at + 8] as string | null,
    leaseId: rare === null ? null : rare[5],
    reservationId: rare === null ? null : rare[6],
    failure: rare === null ? null : rare[3],
    derivedFrom: rare === null ? null : rare[4],
    inference: rare === null ? null : rare[7],
  }
  return {
    k: kinds[cells[at] as number]!,
    id,
    env,
    fresh: rare?.[8] ?? false,
    m: { type: 'event', event, write: null, joins: [] },
  }
}

function readKeys(cells: Cells, at: number): CheckContext['companyKeys'] {
  const count = cells[at] as number
  if (count < 0) return null
  const keys: Record<string, string> = {}
  for (let i = at + 1; i <= at + 2 * count; i += 2) {
    const name = cells[i] as string
    const value = cells[i + 1] as string
    if (name !== '__proto__') keys[name] = value
    else Object.defineProperty(keys, name, { value, enumerable: true })
  }
  return keys
}

/** Why a request failed for now (503). */
export type Unavailable = 'store_away' | 'overloaded' | 'starting'

/** What is done with each reply of a post. */
export interface Hearing {
  /** `sequence`: where it became durable, 0 for reads. */
  answered(n: number, reply: unknown, sequence: number): void
  refused(n: number, refusal: Refusal, detail: string | undefined): void
  failed(n: number, reason: Unavailable, detail: string | undefined): void
}

/** Replies that leave together: four values each. */
export class Replies implements Hearing {
  cells: unknown[] = []

  get isEmpty(): boolean {
    return this.cells.length === 0
  }

  answered(n: number, reply: unknown, sequence: number): void {
    this.cells.push(n, 0, reply, sequence)
  }

  refused(n: number, refusal: Refusal, detail?: string): void {
    this.cells.push(n, 1, refusal, detail)
  }

  failed(n: number, reason: Unavailable, detail?: string): void {
    this.cells.push(n, 2, reason, detail)
  }

  /** What was added, to be posted; begins anew. */
  take(): Cells {
    const { cells } = this
    this.cells = []
    return cells
  }
}

/** Hand over every reply of one post, in order. */
export function hear(cells: Cells, hearing: Hearing): void {
  for (let at = 0; at < cells.length; at += 4) {
    const n = cells[at] as number
    const second = cells[at + 2]
    const third = cells[at + 3]
    if (cells[at + 1] === 0) hearing.answered(n, second, third as number)
    else if (cells[at + 1] === 1) hearing.refused(n, second as Refusal, third as string | undefined)
    else hearing.failed(n, second as Unavailable, third as string | undefined)
  }
}

/** Every one of these replies as a failure. */
export function allFailed(replies: Cells, reason: Unavailable, detail: string): Cells {
  const failed = new Replies()
  for (let at = 0; at < replies.length; at += 4) failed.failed(replies[at] as number, reason, detail)
  return failed.cells
}
