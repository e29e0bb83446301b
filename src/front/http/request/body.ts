// Stage 3 of a request, body: it is received within its bounds, decompressed and parsed; a long one waits for its turn. Body and
// admission may complete in either order.
import { Buffer } from 'node:buffer'
import { ServiceError } from '../../../errors.js'
import { decodeUtf8 } from '../../../json.js'
import type { KeyRecord } from '../../../kit/call.js'
import { groupOf } from '../admission/admit.js'
import { tokensOfBody } from '../admission/charges.js'
import { keylessBytesMax, namedContext, namedKeys } from '../admission/keys-in-body.js'
import type { AdmitStage, Next } from './admit.js'
import type { CallStage } from './call.js'
import { GatheredBody } from './gathered-body.js'
import { longBytes } from './long-bodies.js'
import { decompress, parseBody, rawBody, tooLarge } from './parse-body.js'
import type { Incoming } from './read.js'
import type { ReplyStage } from './reply.js'

// Bytes of bodies of unauthenticated callers, in total.
const keylessTotalMax = 4_194_304

/** The body of one request. */
export class BodyStage implements Next {
  private pieces: GatheredBody | null = null
  private received = 0
  private reserved = 0
  private group = ''
  /** Bytes received of a body that is searched for a key. */
  private keylessBytes = 0
  /** A complete body that waits for admission. */
  private waiting: Buffer | null = null

  constructor(
    private readonly incoming: Incoming,
    private readonly admit: AdmitStage,
    private readonly call: CallStage,
    private readonly reply: ReplyStage,
  ) {
    reply.body = this
  }

  admitted(): void {
    if (this.waiting !== null) this.complete(this.waiting)
  }

  /** A piece, as the server gives it. */
  data(chunk: ArrayBuffer, last: boolean): void {
    const { reply, incoming } = this
    // the server still delivers the rest of a body that was answered early; it is dropped
    if (reply.isFinished || reply.isDeferred) return
    reply.corked = true
    try {
      this.received += chunk.byteLength
      if (this.admit.isKeyless) this.hold(chunk.byteLength)
      if (this.received > incoming.compiled.bodyBytesMax) throw tooLarge(incoming.compiled.route)
      if (last && this.pieces === null) this.whole(chunk)
      else this.piece(chunk, last)
    } catch (error) {
      reply.fail(error)
    } finally {
      reply.corked = false
    }
  }

  /** The usual case: the body in one piece. It is read in place if that is possible at once. */
  private whole(chunk: ArrayBuffer): void {
    const inPlace =
      chunk.byteLength < longBytes && this.admit.admission !== null && this.incoming.encoding === 'identity'
    if (inPlace && this.call.answersEarly(chunk)) return
    this.complete(inPlace ? Buffer.from(chunk) : Buffer.from(chunk.slice(0)))
  }

  private piece(chunk: ArrayBuffer, last: boolean): void {
    this.reserve(chunk.byteLength)
    this.pieces ??= new GatheredBody(Number(this.incoming.contentLength))
    this.pieces.add(chunk)
    if (last) this.complete(this.pieces.whole())
  }

  /** Bodies of unauthenticated callers are short, and few at a time. */
  private hold(bytes: number): void {
    if (this.received > keylessBytesMax) throw this.admit.unread(true)
    const { shared } = this.incoming
    this.keylessBytes += bytes
    shared.keylessBytes += bytes
    if (shared.keylessBytes > keylessTotalMax) throw new ServiceError('overloaded')
  }

  /** Runs after all bodies of known callers. */
  private searchKeys(bytes: Buffer): void {
    const { admit, incoming } = this
    const { shared, startedMs } = incoming
    const { keys } = shared.services!
    const secrets = namedKeys(bytes)
    const search = (records: readonly (KeyRecord | null)[]): void => {
      const key = records.find(record => record !== null)
      if (key === undefined) throw admit.unknown(secrets[0] ?? '', true)
      shared.unauthenticated.giveBack(admit.remoteIp(), startedMs)
      admit.isKeyless = false
      incoming.contextToken = namedContext(bytes)
      admit.admit(key)
      this.take(bytes)
    }
    this.reply.after(Promise.all(secrets.map(secret => keys.find(secret, admit))), search)
  }

  /** The complete body, as received. */
  private complete(bytes: Buffer): void {
    const { admit, incoming, reply } = this
    const { encoding, shared, compiled } = incoming
    if (admit.isKeyless) {
      shared.longBodies.addLast(bytes.length, () => {
        if (!reply.isFinished) this.searchKeys(bytes)
      })
      return
    }
    if (admit.admission === null) {
      this.waiting = bytes
      return
    }
    if (encoding instanceof ServiceError) throw encoding
    if (encoding === 'identity') {
      this.take(bytes)
      return
    }
    if (this.reserved === 0) this.reserve(bytes.length)
    reply.after(decompress(bytes, compiled.route, groupOf(admit.admission)), plain => this.take(plain))
  }

  /** Long bodies wait for their turn, so that other requests need not wait for them. */
  private take(bytes: Buffer): void {
    if (bytes.length < longBytes) return this.read(bytes)
    const { admit, incoming, reply } = this
    if (bytes.length > this.reserved) this.reserve(bytes.length - this.reserved)
    admit.charge(tokensOfBody(incoming.compiled.route, admit.admission!.key, bytes.length))
    incoming.shared.longBodies.add(bytes.length, () => {
      if (reply.isFinished) return
      try {
        this.read(bytes)
      } catch (error) {
        reply.fail(error)
      }
    })
  }

  private read(bytes: Buffer): void {
    this.pieces = null
    this.waiting = null
    const { compiled, contentType, attributes } = this.incoming
    const { parse, mutates } = compiled.route
    const text = parse === null ? null : decodeUtf8(bytes)
    const { audit } = this.reply
    if (audit !== null && mutates) audit.requestBody = text
    const body =
      parse === null ? rawBody(bytes, contentType, attributes) : parseBody(text!, parse, compiled.isHot)
    this.call.handle(body, text ?? '')
  }

  /** Bodies in pieces or compressed share one bound, so that many slow ones cannot fill the memory. */
  private reserve(bytes: number): void {
    if (this.reserved === 0) this.group = groupOf(this.admit.admission)
    if (!this.incoming.shared.buffered.take(this.group, bytes)) throw new ServiceError('overloaded')
    this.reserved += bytes
  }

  /** The request is answered: nothing of the body is kept. */
  release(): void {
    const { shared } = this.incoming
    this.pieces = null
    this.waiting = null
    if (this.reserved > 0) shared.buffered.give(this.group, this.reserved)
    this.reserved = 0
    shared.keylessBytes -= this.keylessBytes
    this.keylessBytes = 0
  }
}
