// GET /datastream: its requirements, and the messages of its peers (docs/datastream.md).

import { keyFault } from '../../../account/conditions.js'
import type { SignedContext } from '../../../account/signed-contexts.js'
import type { Config } from '../../../config.js'
import { type Bucket, fullBucket, hasToken, refill, take, takeMany } from '../../../core/values/bucket.js'
import { ServiceError } from '../../../errors.js'
import type { KeyRecord } from '../../../kit/call.js'
import type { KeyAsker } from '../../../kit/services.js'
import { toFailure } from '../../../storage/failure.js'
import { ByteShares } from '../../../turns/byte-shares.js'
import { changedFrame, type EntityKind, errorFrame, pongFrame } from '../../stream/frames.js'
import { type StreamSink, type Subscriber, slowReader } from '../../stream/subscriber.js'
import { admit } from '../admission/admit.js'
import {
  type AppRequest,
  type AppResponse,
  type AppSocket,
  lingerMs,
  type SocketListener,
  type SocketRoute,
} from '../apps/app.js'
import { upgradeFault } from '../request/framed-pages.js'
import { cutOff, Misframed } from '../request/framing.js'
import { failure, internalError } from '../request/respond.js'
import type { Shared } from '../request/shared.js'
import { forwardedAddress } from '../routing/headers.js'
import { get } from '../routing/route.js'
import { Page, PageCounts } from './page.js'

export const datastreamPath = '/datastream'
/** The requirements for opening a stream: scope read, because it shows all companies of an environment. */
const route = get(datastreamPath, { scope: 'read', handle: () => ({}) })
/** The same for a page, which hears that a check of its own company and user may have changed, and no data. */
const pageRoute = get(datastreamPath, { scope: 'check', handle: () => ({}) })
/** Largest frame, bytes: room for a thousand lists of keys. */
const frameBytesMax = 262_144
/** Lists of keys in one frame. */
const listsMax = 1_000
/**
 * Characters of messages that wait to be worked on, of one connection and of all, of which an environment has three quarters at
 * most; beyond, the connection is closed.
 */
const waitingMax = 8 << 20
const waitingOfAllMax = 64 << 20
/** A message that waits counts as so many characters more: an empty one takes memory too. */
const messageCharacters = 64
/** How long a connection that is closed may take the bytes that wait for it, ms. Then it is cut. */
const partingMs = 10_000
/** Lists of keys worked on in one go, before other connections have their turn. */
const together = 16
/** Entities that connections of a key may name a second, for each message that one may send a second; ten times at once. */
const namedPerMessage = 20
/** Characters of a message that cost as much as naming an entity: reading them. */
const charactersPerName = 256
/** Bytes of a frame of all flags that cost as much. */
const bytesPerName = 2_048
/** How long a connection waits whose key has named too many, ms. */
const pauseMs = 50
/** Most keys with a budget. */
const keysMax = 10_000
/** Bytes that may wait for a page: its notices and answers are small. */
const pageBytesMax = 65_536
/** Messages beyond the rate that a new connection may send at once. */
const burstSeconds = 10
/** Interval of the check that a connection's key is still valid, ms. */
const lookEveryMs = 2_000

/** Codes on close (docs/datastream.md). */
const goingAway = 1001
const policy = 1008
const keyGone = 4001

/** The subprotocol of clients that subscribe again to what they hold, and cannot send headers. */
const ownProtocol = 'tollgate'

type StreamSettings = Pick<
  Config,
  'streamConnectionsMax' | 'streamConnectionsPerKeyMax' | 'streamPagesMax' | 'streamMessagesPerSecond'
>

/** How a connection was opened. */
export interface Opened {
  readonly key: KeyRecord
  readonly address: string
  /** A key's value, or the cookie of a session, and its hash. */
  readonly secret: string
  readonly hash: Buffer
  readonly environmentId: string
}

/** The data stream over HTTP. */
export class Datastream implements SocketRoute {
  readonly frameBytesMax = frameBytesMax
  private readonly open = new Set<Connection>()
  private readonly pages = new PageCounts()
  /** Budgets of keys with connections, for the entities that they name. */
  private readonly names = new Map<string, Bucket>()
  /** Characters of messages that wait, of all connections. */
  readonly waiting = new ByteShares(waitingOfAllMax)
  private readonly looks = setInterval(() => this.look(), lookEveryMs).unref()

  constructor(
    readonly shared: Shared,
    readonly settings: StreamSettings,
  ) {}

  upgrade(
    res: AppResponse,
    req: AppRequest,
    accept: (listener: SocketListener, protocol: string) => void,
  ): void {
    const { shared } = this
    const startedMs = performance.now()
    let gone = false
    res.onAborted(() => {
      gone = true
    })
    const refuse = (error: unknown): void => {
      if (gone) return
      const known = toFailure(error)
      if (!(known instanceof ServiceError)) shared.log.error({ err: error }, 'the data stream was not opened')
      const reply = failure(known instanceof ServiceError ? known : internalError, '')
      if (known instanceof Misframed) return cutOff(res, shared.writeHead, reply, () => gone)
      // in a later turn: what came behind the handshake is then pipelining, and the connection is closed
      setImmediate(() => {
        if (!gone) res.cork(() => shared.write(res, reply, false, true))
      })
    }
    try {
      const offered = offeredIn(req)
      const fault = upgradeFault(shared, req)
      if (fault !== null) throw fault
      const secret = this.secretOf(req, offered.key)
      const environmentId = shared.head.environmentId || offered.environment
      const { services } = shared
      if (services === null || shared.draining) throw new ServiceError('starting')
      const address = this.addressOf(res)
      const unknown = () => shared.unauthenticated.failed(address, secret, startedMs)
      if (secret === '') throw unknown()
      const asker = {
        mayAsk: () => shared.unauthenticated.may(address, startedMs),
        wallMs: () => services.clock.wall(),
        contextToken: shared.head.signedContext || offered.context,
        remoteIp: () => address,
      }
      const enter = (key: KeyRecord | null): void => {
        if (gone) return
        if (key === null) throw unknown()
        const { limits } = shared.options
        const isPage = key.kind === 'publishable'
        const { outcome } = admit(
          isPage ? pageRoute : route,
          key,
          environmentId,
          services.keys,
          limits,
          startedMs,
          asker,
        )
        if (outcome instanceof ServiceError) throw outcome
        const { environment } = outcome
        if (environment === null) throw new ServiceError('not_found', 'Environment not found')
        if (isPage) this.requireOrigin(offered.origin)
        const page = isPage ? pageOf(outcome.signed, asker.contextToken, environment.id) : null
        this.requireRoom(environment.id, key.id, page)
        services.keys.used(key.id, startedMs)
        const hash = services.keys.hash(secret)
        const opened = { key, address, secret, hash, environmentId: environment.id }
        const connection = new Connection(this, opened, offered.isOwn, page)
        accept(connection, offered.isOwn ? ownProtocol : '')
      }
      // Many handshakes at once are accepted a few in each turn.
      const inTurn = (key: KeyRecord | null): void =>
        services.streams.turns.run(() => {
          try {
            enter(key)
          } catch (error) {
            refuse(error)
          }
        }, key?.environmentId ?? environmentId)
      const found = this.find(secret, environmentId, asker)
      if (!(found instanceof Promise)) inTurn(found)
      else found.then(inTurn).catch(refuse)
    } catch (error) {
      refuse(error)
    }
  }

  /** The key that a handshake names; '' for none. */
  protected secretOf(_: AppRequest, offered: string): string {
    return this.shared.head.key || offered
  }

  /** The key's record, or null. */
  protected find(
    secret: string,
    _environmentId: string,
    asker: KeyAsker,
  ): KeyRecord | null | Promise<KeyRecord | null> {
    return this.shared.services!.keys.find(secret, asker)
  }

  /** Whether a connection to an environment may stay. */
  mayStay({ key, address, hash }: Opened): boolean {
    const { services } = this.shared
    if (services === null) return true
    // a value that was replaced by a roll has its own expiry
    return this.opens(services.keys.ofValue(key.id, hash), address)
  }

  /** Whether a key opens the stream now. null: it is none any more. */
  protected opens(now: KeyRecord | null, address: string): boolean {
    const { services } = this.shared
    if (now === null || services === null) return false
    if (now.conditions != null && keyFault(now.conditions, services.clock.wall(), () => address) !== null)
      return false
    // a publishable key opens the stream of a page, whose context is looked at beside it
    if (now.kind === 'publishable') return true
    return now.scopes.some(scope => scope === 'read' || scope === 'write' || scope === 'admin')
  }

  /** The client's address: the peer's, or that from trusted proxies in the head read last. */
  private addressOf(res: AppResponse): string {
    const { app, options, head } = this.shared
    const hops = options.config.trustProxy
    const forwarded = hops > 0 && head.forwardedFor !== '' ? forwardedAddress(head.forwardedFor, hops) : ''
    return forwarded === '' ? app.addressOf(res) : forwarded
  }

  /** A connection was accepted. */
  add(connection: Connection): void {
    this.open.add(connection)
    if (connection.page !== null) this.pages.add(connection.page)
  }

  remove(connection: Connection): void {
    if (this.open.delete(connection) && connection.page !== null) this.pages.remove(connection.page)
  }

  /** The budget of a key for the entities that all its connections name. */
  namesOf(keyId: string): Bucket {
    const known = this.names.get(keyId)
    if (known !== undefined) return known
    // budgets of keys that rest are full again
    if (this.names.size >= keysMax) this.names.clear()
    const ratePerSecond = this.settings.streamMessagesPerSecond * namedPerMessage
    const made = fullBucket({ ratePerSecond, burst: ratePerSecond * burstSeconds }, performance.now())
    this.names.set(keyId, made)
    return made
  }

  /** The service stops: every connection is closed with a reason. */
  close(): void {
    clearInterval(this.looks)
    for (const connection of [...this.open]) connection.end(goingAway, 'The service stops; connect again')
  }

  /** errors  forbidden (403): browsers do not apply CORS to a WebSocket, so the origins that are set are held here. */
  private requireOrigin(origin: string): void {
    const { corsOrigins } = this.shared.options.config
    if (origin !== '' && corsOrigins !== null && !corsOrigins.includes(origin))
      throw new ServiceError(
        'forbidden',
        'Pages of this origin may not open the data stream: see TOLLGATE_CORS_ORIGINS',
      )
  }

  private requireRoom(environmentId: string, keyId: string, page: Page | null): void {
    const { streamConnectionsMax, streamConnectionsPerKeyMax, streamPagesMax } = this.settings
    if (this.shared.services!.streams.isCrowded(environmentId))
      throw new ServiceError('rate_limited', 'Connections of the environment leave too much unread', {
        retryAfterSeconds: 30,
      })
    if (page !== null) return this.pages.requireRoom(page, streamPagesMax)
    const { all, ofKey } = this.shared.services!.streams.connectionsOf(environmentId, keyId)
    const refusal = (max: number, whose: string) =>
      new ServiceError(
        'rate_limited',
        `The ${whose} has ${max} connections to the data stream, as many as it may`,
        {
          retryAfterSeconds: 30,
        },
      )
    if (ofKey >= streamConnectionsPerKeyMax) throw refusal(streamConnectionsPerKeyMax, 'key')
    if (all - this.pages.of(environmentId) >= streamConnectionsMax)
      throw refusal(streamConnectionsMax, 'environment')
  }

  /** Close connections of keys that were deleted, disabled or lost their scope (AL-3). */
  private look(): void {
    for (const connection of [...this.open])
      if (!connection.mayStay()) connection.end(keyGone, 'The key does not open the data stream any more')
  }
}

/**
 * The subprotocols that a handshake offers. Clients that cannot send headers put their key and environment
 * there.
 */
function offeredIn(req: AppRequest): {
  readonly isOwn: boolean
  readonly key: string
  readonly environment: string
  readonly context: string
  /** The origin of the page that opens it; '' where no page does. */
  readonly origin: string
} {
  const names = req
    .getHeader('sec-websocket-protocol')
    .split(',')
    .map(name => name.trim())
  const after = (prefix: string) => names.find(name => name.startsWith(prefix))?.slice(prefix.length) ?? ''
  const decoded = (prefix: string) => Buffer.from(after(prefix), 'base64url').toString()
  return {
    isOwn: names.includes(ownProtocol),
    key: decoded('key.'),
    environment: after('environment.'),
    context: decoded('context.'),
    origin: req.getHeader('origin'),
  }
}

/** errors  forbidden (403): a page hears of the company and user that its server signed for it, and of no other. */
function pageOf(signed: SignedContext | null, token: string, environmentId: string): Page {
  if (signed === null || (signed.company === null && signed.user === null))
    throw new ServiceError(
      'forbidden',
      'A publishable key opens the data stream with a signed context that names a company or user: in ' +
        'X-Service-Signed-Context, or as the subprotocol context.<base64url>',
    )
  return new Page(environmentId, signed, token)
}

/** One connection and its messages. */
class Connection implements SocketListener, StreamSink {
  private socket: AppSocket | null = null
  private subscriber: Subscriber | null = null
  private readonly environmentId: string
  private readonly budget: Bucket
  private readonly names: Bucket
  private messages: string[] = []
  /** Characters of messages that wait. */
  private waiting = 0
  private isWorking = false
  /** Work for it beside its messages. */
  private readonly more: Generator<number, void>[] = []
  private steps = this.obeyed()
  /** Closes a connection that ended while bytes waited for it; null: it did not. */
  private parting: ((isClosed: boolean) => void) | null = null

  constructor(
    private readonly stream: Datastream,
    private readonly by: Opened,
    private readonly isOwn: boolean,
    /** The page's context; null: it is a server's connection. */
    readonly page: Page | null,
  ) {
    const { key } = by
    this.environmentId = by.environmentId
    const ratePerSecond = stream.settings.streamMessagesPerSecond
    this.names = stream.namesOf(key.id)
    this.budget = fullBucket({ ratePerSecond, burst: ratePerSecond * burstSeconds }, performance.now())
  }

  opened(socket: AppSocket): void {
    this.socket = socket
    const { services } = this.stream.shared
    this.stream.add(this)
    if (services === null) return socket.end(goingAway, 'The service stops; connect again')
    const { page, environmentId, by } = this
    const resumes = page === null && !this.isOwn
    this.subscriber = services.streams.connect(environmentId, by.key.id, this, resumes, page !== null)
    if (page !== null) this.begin(page)
  }

  /** Subscribe a page to its own company and user. */
  private begin({ entities }: Page): void {
    this.stream.shared.services!.streams.turns.run(() => {
      if (this.socket === null || this.stream.shared.services === null) return
      for (const { kind, type, keys } of entities) this.ask(kind, type, keys, 'start')
    }, this.environmentId)
  }

  received(text: string): void {
    const { subscriber, budget } = this
    if (subscriber === null || this.socket === null) return
    refill(budget, performance.now())
    if (!hasToken(budget)) {
      const { streamMessagesPerSecond: rate } = this.stream.settings
      this.end(policy, `More than ${rate} messages a second`)
      return
    }
    take(budget)
    const characters = text.length + messageCharacters
    const isTooMuch = this.waiting + characters > waitingMax
    if (isTooMuch || !this.stream.waiting.take(this.environmentId, characters)) {
      this.end(policy, 'More messages than can be worked on; wait for their answers')
      return
    }
    this.waiting += characters
    this.messages.push(text)
    this.begun()
  }

  later(steps: Generator<number, void>): void {
    this.more.push(steps)
    this.begun()
  }

  private begun(): void {
    if (this.isWorking) return
    this.isWorking = true
    this.inTurn()
  }

  /** Work in a turn of the event loop, then let other connections have theirs. */
  private inTurn(): void {
    this.stream.shared.services?.streams.turns.run(() => this.work(), this.environmentId)
  }

  private work(): void {
    if (this.socket === null || this.stream.shared.services === null) return
    for (let n = 0; n < together; n++) {
      refill(this.names, performance.now())
      if (!hasToken(this.names)) {
        setTimeout(() => this.inTurn(), pauseMs).unref()
        return
      }
      const { done, value } = this.steps.next()
      if (done === true) {
        this.isWorking = false
        this.steps = this.obeyed()
        return
      }
      takeMany(this.names, value)
      if (this.socket === null) return
    }
    this.inTurn()
  }

  /** Obeys messages in order, an entity at a time, then does what else there is; yields what each step costs. */
  private *obeyed(): Generator<number, void> {
    for (;;) {
      // messages that come meanwhile are the next ones
      const { messages } = this
      this.messages = []
      for (const text of messages) yield* this.obeyedOne(text)
      if (this.messages.length > 0) continue
      const steps = this.more.shift()
      if (steps === undefined) return
      yield* steps
    }
  }

  private *obeyedOne(text: string): Generator<number, void> {
    const characters = text.length + messageCharacters
    this.waiting -= characters
    this.stream.waiting.give(this.environmentId, characters)
    try {
      const message = readMessage(text)
      yield 1 + text.length / charactersPerName
      yield* this.obey(message)
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      this.reply(`error ${error.message}`, errorFrame(error.message, null, null))
      yield 1 + text.length / charactersPerName
    }
  }

  drained(): void {
    this.parting?.(false)
    this.subscriber?.drained()
  }

  closed(isKept: boolean): void {
    const { environmentId } = this
    const { services } = this.stream.shared
    const unread = isKept ? (this.subscriber?.unread ?? 0) : 0
    this.socket = null
    this.leave()
    this.parting?.(true)
    if (unread === 0 || services === null) return
    const { streams } = services
    streams.waits(environmentId, unread)
    setTimeout(() => streams.waits(environmentId, -unread), lingerMs).unref()
  }

  /** It hears and is told nothing more. */
  private leave(): void {
    this.page?.end()
    this.messages = []
    this.more.length = 0
    this.stream.waiting.give(this.environmentId, this.waiting)
    this.waiting = 0
    this.stream.remove(this)
    this.subscriber?.left()
  }

  /** Answer a message about no entity. A page is told of nothing else that it asks. */
  private reply(question: string, frame: Uint8Array): void {
    if (this.page === null) this.subscriber!.answer(question, () => frame)
    else if (this.buffered() <= pageBytesMax) this.socket?.send(frame)
    else this.end(slowReader, 'The connection reads too slowly')
  }

  /** A page is told that something changed, whatever it is. */
  send(frame: Uint8Array): void {
    if (this.page === null) this.socket?.send(frame)
    else this.page.notice(() => this.socket?.send(changedFrame))
  }

  buffered(): number {
    return this.socket?.buffered() ?? 0
  }

  end(code: number, reason: string): void {
    const { socket } = this
    if (socket === null) return
    const bytes = socket.buffered()
    this.socket = null
    this.leave()
    if (bytes === 0) socket.end(code, reason)
    else this.part(socket, bytes, code, reason)
  }

  /**
   * Close it once its peer has taken what waits for it, or cut it. Until then these bytes count for its environment: closing
   * connections that are not read would hold memory beside the bound (security H1).
   */
  private part(socket: AppSocket, bytes: number, code: number, reason: string): void {
    const { services } = this.stream.shared
    const count = (change: number) => services?.streams.waits(this.environmentId, change)
    count(bytes)
    const timer = setTimeout(() => {
      this.parting?.(true)
      socket.cut()
    }, partingMs)
    timer.unref()
    this.parting = isClosed => {
      if (!isClosed && socket.buffered() > 0) return
      this.parting = null
      clearTimeout(timer)
      count(-bytes)
      if (!isClosed) socket.end(code, reason)
    }
  }

  mayStay(): boolean {
    const { services } = this.stream.shared
    if (services === null) return true
    const environment = services.keys.environment(this.environmentId)
    if (environment === null || !this.stream.mayStay(this.by)) return false
    return this.page === null || this.page.isSigned(environment.contextSecrets, services.clock.wall())
  }

  private *obey({ type, lists, action }: Message): Generator<number, void> {
    const subscriber = this.subscriber!
    const { streams } = this.stream.shared.services!
    if (action === 'ping') {
      this.reply('ping', pongFrame)
      return
    }
    if (this.page !== null)
      throw new ServiceError(
        'forbidden',
        'A page asks for nothing here: it hears of its own company and user',
      )
    if (type === 'rulesengine.Flags') {
      if (action !== 'start') return
      streams.flags.tellAll(subscriber)
      yield (subscriber.environment.flagsTold?.frame.length ?? 0) / bytesPerName
      return
    }
    if (type === 'rulesengine.Flag') {
      const [keys = {}] = lists
      if (!streams.flags.tellOne(subscriber, keys.key ?? '')) subscriber.fail('Flag not found', keys, type)
      return
    }
    const kind = kinds.get(type)
    if (kind === undefined) throw new ServiceError('body_invalid', 'entity_type is none that is streamed')
    for (const keys of lists) {
      this.ask(kind, type, keys, action)
      yield 1 + Object.keys(keys).length + (action === 'start' ? streams.costOf(subscriber) : 0)
    }
  }

  private ask(kind: EntityKind, type: string, keys: Message['lists'][number], action: EntityAction): void {
    const subscriber = this.subscriber!
    const { streams } = this.stream.shared.services!
    try {
      let problem: string | null = null
      if (action === 'stop') streams.stop(subscriber, kind, keys)
      else if (action === 'start') problem = streams.start(subscriber, kind, type, keys)
      else problem = streams.confirm(subscriber, kind, type, keys)
      if (problem !== null) subscriber.fail(problem, keys, type)
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      subscriber.fail(error.message, keys, type)
    }
  }
}

const kinds: ReadonlyMap<string, EntityKind> = new Map([
  ['rulesengine.Company', 'company'],
  ['rulesengine.Companies', 'company'],
  ['rulesengine.User', 'user'],
  ['rulesengine.Users', 'user'],
])

type EntityAction = 'start' | 'stop' | 'confirm'

interface Message {
  readonly type: string
  readonly lists: readonly Readonly<Record<string, string>>[]
  readonly action: EntityAction | 'ping'
}

/** errors  body_malformed, body_invalid (400). The peer receives the message. */
function readMessage(text: string): Message {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw new ServiceError('body_malformed', 'The message is not valid JSON')
  }
  const data = isRecord(parsed) ? parsed.data : null
  if (isRecord(data) && data.action === 'ping') return { type: '', lists: [], action: 'ping' }
  if (!isRecord(data) || typeof data.entity_type !== 'string')
    throw new ServiceError('body_invalid', 'data.entity_type is missing')
  const { action = 'start', keys = null, keys_list: several = null } = data
  if (action !== 'start' && action !== 'stop' && action !== 'confirm')
    throw new ServiceError('body_invalid', 'data.action: start, stop, confirm or ping')
  if (several !== null && (!Array.isArray(several) || several.length > listsMax))
    throw new ServiceError('body_invalid', `data.keys_list: at most ${listsMax}`)
  const lists = [...(keys === null ? [] : [keys]), ...((several as unknown[] | null) ?? [])]
  if (!lists.every(areKeys)) throw new ServiceError('body_invalid', 'data.keys: texts by name')
  return { type: data.entity_type, lists, action }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const areKeys = (value: unknown): value is Readonly<Record<string, string>> =>
  isRecord(value) && Object.values(value).every(one => typeof one === 'string')
