// The connection to the data stream. It reconnects whenever it ends, and subscribes again to the entities in
// memory.
import { parseMarked } from '../../../src/core/values/exact-json.js'
import { reasonOf, type TollgateError } from './errors.js'
import type { Http } from './http.js'
import type { EntityKind, Keys, StreamMessage } from './store.js'

/**
 * The used part of a WebSocket: of browsers, of Node from 22 on, of edge runtimes, and of the package `ws`.
 */
export interface SocketLike {
  onopen: ((event: never) => void) | null
  onmessage: ((event: never) => void) | null
  onclose: ((event: never) => void) | null
  onerror: ((event: never) => void) | null
  send(text: string): void
  close(code?: number, reason?: string): void
}

export type OpenSocket = (url: string, protocols: string[]) => SocketLike | Promise<SocketLike>

export interface StreamOptions {
  readonly http: Http
  readonly open: OpenSocket
  /** As a page: the service tells that a check may have changed, and no data. */
  readonly isPage: boolean
  /** Ids of every entity in memory. */
  readonly held: (kind: EntityKind) => readonly string[]
  readonly heard: (message: StreamMessage) => void
  /** Whether the entity with these keys is in memory. */
  readonly isHeld: (kind: EntityKind, keys: Keys) => boolean
  /** The service refused a subscription to these keys. `isWatched`: it tells when they become somebody's. */
  readonly refused: (kind: EntityKind, keys: Keys, isWatched: boolean) => void
  /** Called when the connection begins or ends, with the reason. */
  readonly changed: (connected: boolean, reason: string) => void
  /** An attempt was in vain. `error` is the service's refusal; null: it would open the stream. */
  readonly inVain: (reason: string, error: TollgateError | null) => void
}

/** Marks long integers while a message is parsed. */
const mark = `${crypto.getRandomValues(new Uint32Array(4)).join('-')}:`

/** Longest wait between attempts, ms. They begin with one second and double. */
const waitMaxMs = 30_000
/** A connection that lives as long was a good one: the waits begin anew after it, ms. */
const livesMs = 10_000
/** Most lists of keys in one message. */
const listsMax = 500
/** After a request in vain, an entity is not requested again for this long, ms. */
const absentMs = 1_000
/** An attempt that takes longer fails, ms. */
const openMs = 30_000
/** Interval between two pings, ms: proxies close connections that are silent, many of them after a minute. */
const pingMs = 25_000

const wire = { company: 'rulesengine.Company', user: 'rulesengine.User' } as const

/** Text as bytes in base64url: a subprotocol may contain no other characters. */
function base64url(text: string): string {
  const bytes = new TextEncoder().encode(text)
  const binary = Array.from(bytes, byte => String.fromCharCode(byte)).join('')
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

export class Stream {
  private socket: SocketLike | null = null
  private connected = false
  private closing = false
  /** An attempt is being made. */
  private isOpening = false
  private failures = 0
  private timer: ReturnType<typeof setTimeout> | null = null
  /** Runs until the connection has lived long enough. */
  private proving: ReturnType<typeof setTimeout> | null = null
  private pings: ReturnType<typeof setInterval> | null = null
  /** Whether anything was heard since the last ping. */
  private isHeard = true
  /** Requests without an answer, by kind and keys. After a refusal the time of it, ms. */
  private readonly asked = new Map<string, number>()
  private readonly waiting = new Map<string, Set<() => void>>()

  constructor(private readonly options: StreamOptions) {}

  get isConnected(): boolean {
    return this.connected
  }

  /** Connect, and reconnect whenever the connection ends. Again has no effect. */
  start(): void {
    if (this.closing || this.socket !== null || this.isOpening || this.timer !== null) return
    this.isOpening = true
    this.open().then(
      () => {
        this.isOpening = false
      },
      error => {
        this.isOpening = false
        this.options.inVain(reasonOf(error), null)
        this.again(reasonOf(error))
      },
    )
  }

  /** Another key may be let in: try now. */
  retry(): void {
    this.failures = 0
    if (this.timer !== null) clearTimeout(this.timer)
    this.timer = null
    this.start()
  }

  private async protocols(): Promise<string[]> {
    const { http } = this.options
    const protocols = ['tollgate', `key.${base64url(await http.key())}`]
    const { environmentId } = http
    if (environmentId !== undefined) protocols.push(`environment.${environmentId}`)
    const context = this.options.isPage ? await http.context() : undefined
    if (context !== undefined) protocols.push(`context.${base64url(context)}`)
    return protocols
  }

  private async open(): Promise<void> {
    const { http, open } = this.options
    const opened = open(`${http.url.replace(/^http/, 'ws')}/datastream`, await this.protocols())
    const socket = opened instanceof Promise ? await opened : opened
    if (this.closing) return socket.close()
    this.socket = socket
    let wasOpen = false
    const late = setTimeout(() => socket.close(), openMs)
    socket.onopen = () => {
      clearTimeout(late)
      wasOpen = true
      this.opened()
    }
    socket.onmessage = (event: { readonly data: unknown }) => {
      this.isHeard = true
      this.message(String(event.data))
    }
    socket.onerror = () => {}
    socket.onclose = (event: { readonly reason?: string; readonly code?: number }) => {
      clearTimeout(late)
      if (this.socket !== socket) return
      const reason = event.reason || `closed with ${event.code ?? 'no code'}`
      if (!wasOpen) void this.explain(reason)
      this.ended(reason)
    }
  }

  /** A WebSocket does not say why it was refused. An ordinary request to the same address hears it. */
  private async explain(reason: string): Promise<void> {
    const error = await this.options.http.streamRefusal(this.options.isPage, openMs)
    if (this.closing || this.connected) return
    this.options.inVain(
      error?.message ?? `the WebSocket was refused (${reason}); do proxies pass upgrades?`,
      error,
    )
  }

  /**
   * Request an entity. Resolves when it was received, when there is none, or after the wait. Equal requests
   * are sent once.
   */
  want(kind: EntityKind, keys: Keys, waitMs: number): Promise<void> {
    const name = nameOf(kind, keys)
    const nowMs = Date.now()
    const inVainMs = this.asked.get(name)
    if (!this.connected || (inVainMs !== undefined && inVainMs > nowMs - absentMs)) return Promise.resolve()
    return new Promise(resolve => {
      const done = () => {
        clearTimeout(timer)
        waiters?.delete(done)
        resolve()
      }
      const timer = setTimeout(() => {
        done()
        if (waiters?.size === 0 && this.waiting.get(name) === waiters) this.inVain(name)
      }, waitMs)
      let waiters = this.waiting.get(name)
      if (waiters === undefined) {
        waiters = new Set()
        this.waiting.set(name, waiters)
        this.ask(kind, [keys])
      }
      waiters.add(done)
    })
  }

  /** An entity was dropped from memory. */
  forget(kind: EntityKind, keys: Keys): void {
    if (this.connected) this.send({ entity_type: wire[kind], keys, action: 'stop' })
  }

  /**
   * Request a confirmation of companies: it follows everything acknowledged until now. Returns whether it
   * could be sent.
   */
  confirm(companyIds: readonly string[]): boolean {
    if (this.connected) this.ask('company', companyIds.map(byId), 'confirm')
    return this.connected
  }

  close(): void {
    this.closing = true
    if (this.timer !== null) clearTimeout(this.timer)
    this.endTimers()
    this.socket?.close(1000)
    this.socket = null
    this.connected = false
    this.release()
  }

  private opened(): void {
    this.connected = true
    this.proving = setTimeout(() => {
      this.failures = 0
    }, livesMs)
    unref(this.proving)
    this.isHeard = true
    this.pings = setInterval(() => this.ping(), pingMs)
    unref(this.pings)
    if (!this.options.isPage) this.send({ entity_type: 'rulesengine.Flags' })
    for (const kind of ['company', 'user'] as const) this.ask(kind, this.options.held(kind).map(byId))
    this.options.changed(true, 'connected')
  }

  /** Keeps proxies from closing the connection, and finds one whose peer is gone. */
  private ping(): void {
    if (!this.isHeard) {
      const { socket } = this
      this.ended('the service does not answer pings')
      socket?.close(4000)
      return
    }
    this.isHeard = false
    this.send({ action: 'ping' })
  }

  private endTimers(): void {
    if (this.pings !== null) clearInterval(this.pings)
    if (this.proving !== null) clearTimeout(this.proving)
    this.pings = null
    this.proving = null
  }

  private ask(kind: EntityKind, lists: readonly Keys[], action: 'start' | 'confirm' = 'start'): void {
    for (let i = 0; i < lists.length; i += listsMax)
      this.send({ entity_type: wire[kind], keys_list: lists.slice(i, i + listsMax), action })
  }

  private send(data: object): void {
    this.socket?.send(JSON.stringify({ data }))
  }

  private message(text: string): void {
    let message: StreamMessage
    try {
      message = parseMarked(text, mark) as StreamMessage
    } catch {
      return
    }
    if (message.message_type === 'error') this.failed(message)
    else if (message.message_type !== 'pong') {
      this.options.heard(message)
      if (message.message_type === 'full') this.told(message)
    }
  }

  private told({ entity_type: type, data }: StreamMessage): void {
    const kind = type === wire.company ? 'company' : type === wire.user ? 'user' : null
    if (kind === null || this.waiting.size === 0) return
    const { id, keys } = data as { readonly id: string; readonly keys: Keys }
    for (const [name, waiters] of this.waiting) {
      const wanted = keysOf(kind, name)
      if (wanted === null) continue
      const isIt = ([key, value]: readonly string[]) => keys[key!] === value || (key === 'id' && value === id)
      if (Object.entries(wanted).some(isIt) || this.options.isHeld(kind, wanted)) this.settle(name, waiters)
    }
  }

  private failed({ data }: StreamMessage): void {
    const {
      keys,
      entity_type: type,
      watched,
    } = data as {
      readonly keys?: Keys
      readonly entity_type?: string
      readonly watched?: boolean
    }
    if (!keys || !type) return
    const kind = type.startsWith(wire.user) ? 'user' : 'company'
    this.options.refused(kind, keys, watched === true)
    const name = nameOf(kind, keys)
    // A watched list is remembered as unknown; once that ends, it may be requested at once.
    const waiters = this.waiting.get(name)
    if (watched) this.asked.delete(name)
    else this.inVain(name)
    if (waiters) this.settle(name, waiters)
  }

  /** A request had no answer: nothing waits for it any more, and it may be made again after a while. */
  private inVain(name: string): void {
    this.waiting.delete(name)
    if (this.asked.size > 10_000) this.asked.clear()
    this.asked.set(name, Date.now())
  }

  private settle(name: string, waiters: ReadonlySet<() => void>): void {
    this.waiting.delete(name)
    for (const done of [...waiters]) done()
  }

  private release(): void {
    for (const [name, waiters] of [...this.waiting]) this.settle(name, waiters)
  }

  private ended(reason: string): void {
    const wasConnected = this.connected
    this.endTimers()
    this.socket = null
    this.connected = false
    this.release()
    this.again(reason, wasConnected)
  }

  private again(reason: string, wasConnected = false): void {
    if (this.closing) return
    const waitMs = Math.min(waitMaxMs, 1_000 * 2 ** this.failures) * (0.5 + Math.random())
    this.failures++
    if (wasConnected || this.failures === 1) this.options.changed(false, reason)
    this.timer = setTimeout(() => {
      this.timer = null
      this.start()
    }, waitMs)
    unref(this.timer)
  }
}

const byId = (id: string): Keys => ({ id })

/** Lets Node exit while this timer waits. */
export function unref(timer: unknown): void {
  ;(timer as { unref?: () => void }).unref?.()
}

/** One text for equal requests. */
export function nameOf(kind: EntityKind, keys: Keys): string {
  return `${kind} ${JSON.stringify(Object.entries(keys).sort())}`
}

function keysOf(kind: EntityKind, name: string): Keys | null {
  if (!name.startsWith(`${kind} `)) return null
  return Object.fromEntries(JSON.parse(name.slice(kind.length + 1)) as [string, string][])
}
