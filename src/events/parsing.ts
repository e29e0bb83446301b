// Parses and validates a large body: the job, its result, and the work. No I/O; runs in workers/parser/parser.ts.
import { type ErrorCode, ServiceError } from '../errors.js'
import { decodeUtf8 } from '../json.js'
import { Unparsable } from './formats.js'
import { judge } from './judge.js'
import { JudgedWriting, type SubBatch } from './judged.js'
import {
  asEvent,
  type BatchFormat,
  readBatch,
  readEvents,
  type Submitter,
  secretOf,
  secretsOf,
} from './read.js'
import { bodyText, failedBody, typeOf } from './text.js'

/** A key named by events in a collector's body. */
export interface KeyedSubmitter extends Submitter {
  /** Events of one group are acknowledged together. */
  readonly group: number
}

/** A body to parse. Its bytes are transferred. */
export type ParseJob = { readonly bytes: Uint8Array } & (
  | { readonly format: BatchFormat; readonly speaker: Submitter }
  | {
      readonly format: 'collector'
      /** The sender of events that name no key; group 0. */
      readonly speaker: Submitter
      /** Keys named by events, as far as they are known; null: unknown. */
      readonly voices: ReadonlyMap<string, KeyedSubmitter | null>
    }
)

/** Validated events of one sender. */
export interface JudgedGroup {
  readonly group: number
  readonly count: number
  /** Number of events with an idempotency key. */
  readonly keyed: number
  /** Their indexes in the body; null: all events, in order. */
  readonly at: Uint32Array | null
  readonly subBatches: readonly SubBatch[]
}

export type ParseReply =
  | {
      readonly refused: {
        readonly code: ErrorCode
        readonly message: string
        readonly extra: Readonly<Record<string, unknown>> | undefined
      }
    }
  /** Keys named by events that are not known yet; the bytes come back for another job. */
  | { readonly secrets: readonly string[]; readonly bytes: Uint8Array }
  | { readonly groups: readonly JudgedGroup[] }

/**
 * Parse and validate a body, exactly as the HTTP thread does with a small one.
 *
 * returns  the validated events; or the error for the caller (400); or keys that must be looked up first.
 * source   EV-4, EV-7, decisions 3, 8, 20.
 */
export function parseBody(job: ParseJob): ParseReply {
  try {
    const { buffer, byteOffset, byteLength } = job.bytes
    const text = decodeUtf8(Buffer.from(buffer, byteOffset, byteLength))
    if (job.format === 'collector') return parseCollected(job, readEvents(text))
    const events = readBatch(text, job.format, job.speaker)
    return { groups: [judgeAll(0, events, null, job.speaker)] }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const { code, message, extra } = error
    return { refused: { code, message, extra } }
  }
}

function parseCollected(
  { bytes, speaker, voices }: Extract<ParseJob, { readonly format: 'collector' }>,
  events: readonly unknown[],
): ParseReply {
  const named = events.map(secretOf)
  const secrets = secretsOf(events)
  if (secrets.some(secret => !voices.has(secret))) return { secrets, bytes }
  const groups = new Map<number, { voice: Submitter; at: number[] }>()
  for (const [at, secret] of named.entries()) {
    const voice = secret === '' ? { ...speaker, group: 0 } : voices.get(secret)!
    if (voice === null) continue
    const group = groups.get(voice.group)
    if (group) group.at.push(at)
    else groups.set(voice.group, { voice, at: [at] })
  }
  return {
    groups: [...groups].map(([group, { voice, at }]) =>
      judgeAll(
        group,
        at.map(index => asEvent(events[index])),
        Uint32Array.from(at),
        voice,
      ),
    ),
  }
}

function judgeAll(
  group: number,
  events: readonly unknown[],
  at: Uint32Array | null,
  speaker: Submitter,
): JudgedGroup {
  const writing = new JudgedWriting()
  for (const event of events) judgeOne(event, speaker, writing)
  const { keyed } = writing
  return { group, count: events.length, keyed, at, subBatches: writing.end() }
}

function judgeOne(event: unknown, { secret, nowMs, anyAge }: Submitter, writing: JudgedWriting): void {
  const fail = (given: unknown, reason: string) => writing.failed(typeOf(given), failedBody(given), reason)
  if (event instanceof Unparsable) return fail(event.given, event.reason)
  try {
    const judged = judge(event, secret, nowMs, anyAge)
    if ('error' in judged) fail(event, judged.error)
    else writing.judged(judged, bodyText(judged.body, false), event)
  } catch (error) {
    if (!(error instanceof ServiceError && error.status === 400)) throw error
    fail(event, error.message)
  }
}

/** Buffers of a reply that are transferred instead of copied. */
export function transfersOf(reply: ParseReply): readonly ArrayBuffer[] {
  if ('refused' in reply) return []
  const views =
    'secrets' in reply
      ? [reply.bytes]
      : reply.groups.flatMap(({ at, subBatches }) => [
          ...(at === null ? [] : [at]),
          ...subBatches.flatMap(({ numbers, text }) => [numbers, text]),
        ])
  return views.map(view => view.buffer as ArrayBuffer)
}
