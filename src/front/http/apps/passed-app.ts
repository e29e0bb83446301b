// The HTTP interface over the main thread's own connections, and over requests that extra fronts pass on to it.

import type { MessagePort } from 'node:worker_threads'
import { exact, Gathered, type OfPassed, type PassedHead, type ToFront } from '../../../wire/passed.js'
import type { Port } from '../../../wire/port.js'
import type {
  App,
  AppHandler,
  AppMethod,
  AppRequest,
  AppResponse,
  AppSocket,
  SocketListener,
  SocketRoute,
} from './app.js'
import { copyIfShared } from './copy-if-shared.js'
import { Handlers } from './path-tree.js'

/** Bytes of a body in pieces that may be on their way to a caller of another front. */
const piecesBytesMax = 262_144

/** A server whose port extra fronts take connections on; it takes them itself while none of them does. */
export class PassedApp implements App {
  private readonly handlers = new Handlers()
  private readonly routes = new Map<string, SocketRoute>()
  private readonly passages = new Set<Passage>()
  /** No connections are taken any more. */
  isStopping = false
  /** Connections are taken here. */
  private isTaking = true
  private host = ''
  private port = 0

  /** own: takes the main thread's connections. */
  constructor(private readonly own: App) {}

  on(method: AppMethod, path: string, handler: AppHandler): void {
    this.own.on(method, path, handler)
    this.handlers.on(method, path, handler)
  }

  socket(path: string, route: SocketRoute): void {
    this.own.socket(path, route)
    this.routes.set(path, route)
  }

  /** Paths that take WebSocket connections, with the bytes of their frames. */
  get sockets(): readonly (readonly [path: string, frameBytesMax: number])[] {
    return [...this.routes].map(([path, { frameBytesMax }]) => [path, frameBytesMax] as const)
  }

  addressOf(res: AppResponse): string {
    return res instanceof PassedResponse ? res.address : this.own.addressOf(res)
  }

  /** The port is taken alone first: another process that has it is noticed. Then the fronts may listen on it, too. */
  async listen(host: string, port: number): Promise<number> {
    const free = await this.own.listen(host, port, false)
    this.own.stopListening()
    this.host = host
    this.port = await this.own.listen(host, free, true)
    return this.port
  }

  /**
   * Take connections here, or leave them to the fronts. The ones that have come stay where they are.
   *
   * errors  rejects when the port is not available.
   */
  async take(here: boolean): Promise<void> {
    if (this.isStopping || here === this.isTaking) return
    this.isTaking = here
    if (here) await this.own.listen(this.host, this.port, true)
    else this.own.stopListening()
  }

  stopListening(): void {
    this.isStopping = true
    this.own.stopListening()
    for (const passage of this.passages) passage.say(['stop'])
  }

  close(): void {
    this.own.close()
    for (const passage of this.passages) passage.say(['close'])
  }

  /** Answer what a front passes on, until `end`. */
  connect(port: Port): Passage {
    const passage = new Passage(this, port, () => this.passages.delete(passage))
    this.passages.add(passage)
    return passage
  }

  /** The handler of a request, which reads its parameters; null: there is none. */
  find(method: string, path: string, parameters: string[]): AppHandler | null {
    return this.handlers.find(method, path, parameters)
  }

  routeOf(path: string): SocketRoute | null {
    return this.routes.get(path) ?? null
  }
}

/** The requests and WebSockets of one front. */
export class Passage {
  private readonly open = new Map<number, PassedResponse | PassedSocket>()
  private readonly out: Gathered<ToFront>

  constructor(
    private readonly app: PassedApp,
    port: Port,
    private readonly ended: () => void,
  ) {
    this.out = new Gathered(port)
  }

  /** transfer: a port that goes over with it. */
  say(one: ToFront, transfer?: MessagePort): void {
    this.out.say(one, transfer)
  }

  hear(said: OfPassed): void {
    const [op, n] = said
    if (op === 'head') return this.begin(said)
    const one = this.open.get(n)
    if (one === undefined) return
    if (op === 'gone' || op === 'closed') {
      this.open.delete(n)
      one.left(op === 'closed' && said[2])
    } else if (op === 'taken') one.taken(said[2])
    else if (op === 'data') one.data(said[2], said[3])
    else one.received(said[2])
  }

  /** The front is gone, and its callers with it. */
  end(): void {
    this.ended()
    const open = [...this.open.values()]
    this.open.clear()
    for (const one of open) one.left(false)
  }

  /** A request is answered: nothing more is heard of it. */
  over(n: number): void {
    this.open.delete(n)
  }

  private begin([, n, method, url, query, headers, address, isSocket]: Extract<
    OfPassed,
    readonly [op: 'head', ...unknown[]]
  >): void {
    const res = new PassedResponse(this, n, address)
    this.open.set(n, res)
    const parameters: string[] = []
    const route = isSocket ? this.app.routeOf(url) : null
    if (route !== null) {
      const accept = (listener: SocketListener, protocol: string) => this.accept(n, listener, protocol)
      return route.upgrade(res, new PassedRequest(method, url, query, parameters, headers), accept)
    }
    const handler = this.app.find(method, url, parameters)!
    handler(res, new PassedRequest(method, url, query, parameters, headers))
  }

  /** A WebSocket may open. It counts as open at once, as on the main thread: what is sent to it waits for its opening. */
  private accept(n: number, listener: SocketListener, protocol: string): void {
    this.say(['accept', n, protocol])
    const socket = new PassedSocket(this, n, listener)
    this.open.set(n, socket)
    listener.opened(socket)
  }
}

class PassedRequest implements AppRequest {
  constructor(
    private readonly method: string,
    private readonly url: string,
    private readonly query: string | undefined,
    private readonly parameters: readonly string[],
    private readonly headers: readonly string[],
  ) {}

  getMethod(): string {
    return this.method
  }

  getUrl(): string {
    return this.url
  }

  getQuery(): string | undefined {
    return this.query
  }

  getParameter(index: number): string {
    return this.parameters[index] ?? ''
  }

  getHeader(name: string): string {
    const { headers } = this
    for (let i = 0; i < headers.length; i += 2) if (headers[i] === name) return headers[i + 1]!
    return ''
  }

  forEach(each: (name: string, value: string) => void): void {
    const { headers } = this
    for (let i = 0; i < headers.length; i += 2) each(headers[i]!, headers[i + 1]!)
  }
}

class PassedResponse implements AppResponse {
  private status: string | Uint8Array = '200 OK'
  private headers: string[] = []
  private isHeadSent = false
  private aborted: (() => void) | null = null
  private take: ((chunk: ArrayBuffer, isLast: boolean) => void) | null = null
  private writable: ((offset: number) => boolean) | null = null
  /** Bytes of pieces that have not left to the caller. */
  private onTheWay = 0
  private mustWait = false

  constructor(
    private readonly passage: Passage,
    private readonly n: number,
    readonly address: string,
  ) {}

  onAborted(aborted: () => void): void {
    this.aborted = aborted
  }

  onData(data: (chunk: ArrayBuffer, isLast: boolean) => void): void {
    this.take = data
  }

  onWritable(writable: (offset: number) => boolean): void {
    this.writable = writable
  }

  cork(write: () => void): void {
    write()
  }

  writeStatus(status: string | Uint8Array): this {
    this.status = status
    return this
  }

  writeHeader(name: string, value: string): this {
    this.headers.push(name, value)
    return this
  }

  end(body: string | Uint8Array = '', closeConnection = false): void {
    this.over()
    const own = typeof body === 'string' ? body : exact(copyIfShared(body))
    this.passage.say(['end', this.n, this.head(), own, closeConnection])
  }

  endWithoutBody(): void {
    this.over()
    this.passage.say(['bare', this.n, this.head()])
  }

  tryEnd(rest: Uint8Array): [boolean, boolean] {
    this.over()
    this.passage.say(['large', this.n, this.head(), exact(copyIfShared(rest))])
    return [true, true]
  }

  write(piece: Uint8Array): boolean {
    this.onTheWay += piece.length
    this.mustWait = this.onTheWay > piecesBytesMax
    this.passage.say(['piece', this.n, this.head(), exact(copyIfShared(piece))])
    return !this.mustWait
  }

  close(): void {
    this.over()
    this.passage.say(['cut', this.n])
    // as the native server does
    this.aborted?.()
  }

  data(piece: Uint8Array, isLast: boolean): void {
    this.take?.(piece.buffer as ArrayBuffer, isLast)
  }

  taken(bytes: number): void {
    this.onTheWay -= bytes
    if (!this.mustWait || this.onTheWay > piecesBytesMax) return
    this.mustWait = false
    this.writable?.(0)
  }

  received(_text: string): void {}

  left(_isKept: boolean): void {
    this.aborted?.()
  }

  private over(): void {
    this.passage.over(this.n)
  }

  private head(): PassedHead | null {
    if (this.isHeadSent) return null
    this.isHeadSent = true
    return { status: this.status, headers: this.headers }
  }
}

class PassedSocket implements AppSocket {
  private onTheWay = 0

  constructor(
    private readonly passage: Passage,
    private readonly n: number,
    private readonly listener: SocketListener,
  ) {}

  send(text: Uint8Array): void {
    this.onTheWay += text.length
    this.passage.say(['send', this.n, exact(copyIfShared(text))])
  }

  buffered(): number {
    return this.onTheWay
  }

  end(code: number, reason: string): void {
    this.passage.say(['shut', this.n, code, reason])
  }

  cut(): void {
    this.passage.say(['cut', this.n])
  }

  data(_piece: Uint8Array, _isLast: boolean): void {}

  received(text: string): void {
    this.listener.received(text)
    this.passage.say(['heard', this.n, text.length])
  }

  taken(bytes: number): void {
    this.onTheWay -= bytes
    if (this.onTheWay === 0) this.listener.drained()
  }

  left(isKept: boolean): void {
    this.listener.closed(isKept && this.onTheWay > 0)
  }
}
