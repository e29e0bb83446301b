// Messages between an extra front and the main thread: requests that the front does not answer itself, as bytes,
// and the bytes of their answers. Each side posts one list in a turn of its loop.
//
//   caller ─▶ front ─ head, data ─▶ main thread: the same stages and handlers as for a connection of its own
//          ◀─       ◀─ end, piece ─
import type { MessagePort } from 'node:worker_threads'
import type { CheckCounts } from '../core/model/message.js'
import type { RequestLine } from '../log.js'
import type { KeyFacts } from './front-facts.js'
import type { UsesPacket, UsesRefusal } from './front-uses.js'

/** Status line and headers of an answer as the server takes them: names and values in turn. */
export interface PassedHead {
  readonly status: string | Uint8Array
  readonly headers: readonly string[]
}

/** From a front, about a request or WebSocket that it passes on; `n`: its number. */
export type OfPassed =
  | readonly [
      op: 'head',
      n: number,
      method: string,
      url: string,
      query: string | undefined,
      headers: readonly string[],
      address: string,
      /** It asks for a WebSocket. */
      isSocket: boolean,
    ]
  | readonly [op: 'data', n: number, piece: Uint8Array, isLast: boolean]
  /** The caller has left. */
  | readonly [op: 'gone', n: number]
  /** So many bytes of pieces, or of messages, have left to the caller. */
  | readonly [op: 'taken', n: number, bytes: number]
  | readonly [op: 'text', n: number, text: string]
  /** A WebSocket is closed. isKept: as `SocketListener.closed` has it. */
  | readonly [op: 'closed', n: number, isKept: boolean]

/** A line of the log about connections that were closed at a bound. */
export interface RefusedLine {
  readonly peer: string
  readonly reason: string
  /** Connections closed since the last line. */
  readonly attempts: number
}

/** From a front. */
export type FromFront =
  | OfPassed
  | readonly [op: 'listens']
  /** A key was taken: what must a front know of it? The environment as the header names it. */
  | readonly [op: 'ask', key: string, environmentId: string]
  /** Checks that the front answered from memory. */
  | readonly [op: 'counts', counts: CheckCounts]
  /** Keys whose checks the front answered. */
  | readonly [op: 'used', keyIds: readonly string[]]
  /** Events that the front has read. */
  | readonly [op: 'uses', packet: UsesPacket]
  /** A line for the log. */
  | readonly [op: 'slow', line: RequestLine]
  | readonly [op: 'failed', error: unknown]
  | readonly [op: 'refused', line: RefusedLine]

/** To a front. A head is null where it was sent before. */
export type ToFront =
  | readonly [op: 'end', n: number, head: PassedHead | null, body: string | Uint8Array, cuts: boolean]
  /** An answer without body. */
  | readonly [op: 'bare', n: number, head: PassedHead | null]
  /** A body that may not fit the socket at once. */
  | readonly [op: 'large', n: number, head: PassedHead | null, body: Uint8Array]
  /** A piece of a body of unknown length. */
  | readonly [op: 'piece', n: number, head: PassedHead | null, piece: Uint8Array]
  /** Cut the connection of a request or a WebSocket, whatever waits for its peer. */
  | readonly [op: 'cut', n: number]
  /** A WebSocket may open. */
  | readonly [op: 'accept', n: number, protocol: string]
  | readonly [op: 'send', n: number, text: Uint8Array]
  /** So many characters of messages were worked on. */
  | readonly [op: 'heard', n: number, characters: number]
  /** Close a WebSocket with a code and a reason. */
  | readonly [op: 'shut', n: number, code: number, reason: string]
  /** The events of requests are durable; received at `nowMs`. */
  | readonly [op: 'durable', numbers: readonly number[], nowMs: number]
  /** The events of a request must be passed on: nothing was done. */
  | readonly [op: 'untaken', n: number]
  /** They did not become durable, or it is not known. */
  | readonly [op: 'undone', n: number, why: UsesRefusal]
  | readonly [op: 'told', key: string, environmentId: string, facts: KeyFacts | null, edition: number]
  /** The way to a shard that has started; generation: the number of its thread, from 1. */
  | readonly [op: 'shard', index: number, port: MessagePort, generation: number]
  /** Accept no more connections. */
  | readonly [op: 'stop']
  /** Cut every connection, and end. */
  | readonly [op: 'close']

/** Bytes with memory of their own: a clone of a part of a buffer is a clone of the whole. */
export function exact(bytes: Uint8Array): Uint8Array {
  const { buffer, byteLength } = bytes
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) return bytes
  return new Uint8Array(bytes)
}

/** Gathers what is said in a turn of the loop. */
export class Gathered<Said> {
  private said: Said[] = []
  private transfers: MessagePort[] = []

  constructor(
    private readonly port: { postMessage(said: readonly Said[], transfers?: readonly MessagePort[]): void },
  ) {}

  /** transfer: a port that goes over with it. */
  say(one: Said, transfer?: MessagePort): void {
    if (this.said.length === 0) setImmediate(this.post)
    this.said.push(one)
    if (transfer !== undefined) this.transfers.push(transfer)
  }

  /** Post something at once, with what was said before. */
  sayNow(one: Said): void {
    this.said.push(one)
    this.post()
  }

  private readonly post = (): void => {
    if (this.said.length === 0) return
    const { said, transfers } = this
    this.said = []
    this.transfers = []
    this.port.postMessage(said, transfers)
  }
}
