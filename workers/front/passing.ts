// Requests that a front passes on: their bytes go to the main thread, and the answer's bytes to the caller.
import { ServiceError } from '../../src/errors.js'
import type {
  App,
  AppRequest,
  AppResponse,
  AppSocket,
  SocketListener,
  SocketRoute,
} from '../../src/front/http/apps/app.js'
import { failure, headOf } from '../../src/front/http/request/respond.js'
import { type Unread, UnreadAnswers } from '../../src/front/http/request/unread-answers.js'
import type { FromFront, Gathered, PassedHead, ToFront } from '../../src/wire/passed.js'

/** Messages that concern no single request. */
type OfFront = Extract<
  ToFront,
  readonly [op: 'stop' | 'close' | 'told' | 'shard' | 'durable' | 'untaken' | 'undone', ...unknown[]]
>
type OfRequest = Exclude<ToFront, OfFront>

/** Characters of messages of one WebSocket that may be on their way; beyond, it is closed with this code. */
const unheardMax = 8 << 20
const tryLater = 1013

/** A request on its way. */
interface Passed {
  readonly res: AppResponse
  /** Bytes of its body that the main thread was sent. */
  bytes: number
  /** Bytes of pieces that wait for the caller to take them. */
  waiting: number
  /** Opens the WebSocket that it asks for; null: it asks for none. */
  readonly accept: ((listener: SocketListener, protocol: string) => void) | null
  /** Called when the answer is a success. */
  readonly then: (() => void) | null
}

/** Headers of a request as they came, names and values in turn. */
function headersOf(req: AppRequest): string[] {
  const headers: string[] = []
  req.forEach((name, value) => void headers.push(name, value))
  return headers
}

export class Passing {
  private readonly passed = new Map<number, Passed>()
  private readonly sockets = new Map<number, AppSocket>()
  /** Bytes of messages, by WebSocket, that the main thread does not know to have left. */
  private readonly unsent = new Map<number, number>()
  /** Characters of messages, by WebSocket, that the main thread has not worked on. */
  private readonly unheard = new Map<number, number>()
  /** Answers that their callers have not taken. */
  private readonly unread = new Map<number, Unread>()
  private readonly answers = new UnreadAnswers()
  private last = 0
  /** Bytes of bodies of requests without an answer. */
  private bytes = 0

  constructor(
    private readonly app: App,
    private readonly out: Gathered<FromFront>,
    private readonly bytesMax: number,
  ) {}

  /** The address of a request's peer. */
  addressOf(res: AppResponse): string {
    return this.app.addressOf(res)
  }

  /** Pass a request on that has just come. then: called when its answer is a success. */
  begin(res: AppResponse, req: AppRequest, then: Passed['then'] = null): void {
    const n = this.add(res, null, then)
    const headers = headersOf(req)
    this.out.say([
      'head',
      n,
      req.getMethod(),
      req.getUrl(),
      req.getQuery(),
      headers,
      this.app.addressOf(res),
      false,
    ])
    res.onAborted(() => this.gone(n))
    res.onData((chunk, isLast) => this.data(n, chunk.slice(0), isLast))
  }

  /**
   * Pass a POST on whose whole body has come. `onAborted` of its response must call what this returns.
   *
   * headers  names in lower case and values, in turn.
   * body     its memory goes with it.
   */
  resume(
    res: AppResponse,
    url: string,
    headers: readonly string[],
    body: ArrayBuffer,
    then: Passed['then'] = null,
  ): () => void {
    const n = this.add(res, null, then)
    this.out.say(['head', n, 'post', url, undefined, headers, this.app.addressOf(res), false])
    this.data(n, body, true)
    return () => this.gone(n)
  }

  /** A path that takes WebSocket connections. */
  route(frameBytesMax: number): SocketRoute {
    return {
      frameBytesMax,
      upgrade: (res, req, accept) => {
        const n = this.add(res, accept, null)
        res.onAborted(() => this.gone(n))
        const headers = headersOf(req)
        const address = this.app.addressOf(res)
        this.out.say(['head', n, req.getMethod(), req.getUrl(), req.getQuery(), headers, address, true])
      },
    }
  }

  /** Do what the main thread says. */
  hear(said: OfRequest): void {
    const [op, n] = said
    if (op === 'send' || op === 'shut') return this.tell(n, said)
    if (op === 'heard') return this.heard(n, said[2])
    const one = this.passed.get(n)
    // the caller has left meanwhile
    if (one === undefined) return
    if (op === 'accept') {
      this.settle(n, one)
      one.accept!(this.listener(n), said[2])
      return
    }
    const { res } = one
    if (op === 'piece') return this.piece(n, one, said[2], said[3])
    this.settle(n, one)
    if (op === 'cut') return void res.close()
    if (one.then !== null && isSuccess(said[2])) one.then()
    // callers at one address share what may wait for them
    const address = op === 'large' ? this.app.addressOf(res) : ''
    res.cork(() => {
      writeHead(res, said[2])
      if (op === 'end') res.end(said[3], said[4])
      else if (op === 'bare') res.endWithoutBody()
      else this.large(n, res, said[3], address)
    })
  }

  private large(n: number, res: AppResponse, body: Uint8Array, address: string): void {
    const unread = this.answers.send(res, body, address, () => this.taken(n))
    if (unread !== null) this.unread.set(n, unread)
  }

  /** The answer of a request was sent, or its caller has left. */
  private taken(n: number): void {
    this.unread.get(n)?.over()
    this.unread.delete(n)
  }

  private add(res: AppResponse, accept: Passed['accept'], then: Passed['then']): number {
    this.passed.set(++this.last, { res, bytes: 0, waiting: 0, accept, then })
    return this.last
  }

  private settle(n: number, one: Passed): void {
    this.passed.delete(n)
    this.bytes -= one.bytes
  }

  private gone(n: number): void {
    this.taken(n)
    const one = this.passed.get(n)
    if (one === undefined) return
    this.settle(n, one)
    this.out.say(['gone', n])
  }

  private data(n: number, chunk: ArrayBuffer, isLast: boolean): void {
    const one = this.passed.get(n)
    // it was answered early: the rest of its body is dropped
    if (one === undefined) return
    one.bytes += chunk.byteLength
    this.bytes += chunk.byteLength
    if (this.bytes <= this.bytesMax) return this.out.say(['data', n, new Uint8Array(chunk), isLast])
    this.settle(n, one)
    this.out.say(['gone', n])
    refuse(one.res)
  }

  private piece(n: number, one: Passed, head: PassedHead | null, piece: Uint8Array): void {
    const { res } = one
    if (head !== null)
      res.onWritable(() => {
        const { waiting } = one
        one.waiting = 0
        if (waiting > 0 && this.passed.has(n)) this.out.say(['taken', n, waiting])
        return true
      })
    one.waiting += piece.length
    let isTaken = true
    res.cork(() => {
      writeHead(res, head)
      isTaken = res.write(piece)
    })
    if (!isTaken) return
    this.out.say(['taken', n, one.waiting])
    one.waiting = 0
  }

  // ── WebSockets ───────────────────────────────────────────────────────────────────────────────

  private listener(n: number): SocketListener {
    return {
      opened: socket => void this.sockets.set(n, socket),
      received: text => {
        const unheard = (this.unheard.get(n) ?? 0) + text.length
        this.unheard.set(n, unheard)
        if (unheard > unheardMax) this.sockets.get(n)?.end(tryLater, 'Too many messages at once')
        else this.out.say(['text', n, text])
      },
      drained: () => this.told(n),
      closed: () => {
        this.sockets.delete(n)
        this.unsent.delete(n)
        this.unheard.delete(n)
        this.out.say(['closed', n])
      },
    }
  }

  private heard(n: number, characters: number): void {
    const left = (this.unheard.get(n) ?? 0) - characters
    if (left > 0) this.unheard.set(n, left)
    else this.unheard.delete(n)
  }

  private tell(n: number, said: Extract<ToFront, readonly [op: 'send' | 'shut', ...unknown[]]>): void {
    const socket = this.sockets.get(n)
    if (socket === undefined) return
    if (said[0] === 'shut') return said[2] === 0 ? socket.cut() : socket.end(said[2], said[3])
    socket.send(said[2])
    this.unsent.set(n, (this.unsent.get(n) ?? 0) + said[2].length)
    this.told(n)
  }

  private told(n: number): void {
    const socket = this.sockets.get(n)
    const bytes = this.unsent.get(n) ?? 0
    if (socket === undefined || bytes === 0 || socket.buffered() > 0) return
    this.unsent.delete(n)
    this.out.say(['taken', n, bytes])
  }
}

const digit2 = 0x32

function isSuccess(head: PassedHead | null): boolean {
  if (head === null) return false
  return typeof head.status === 'string' ? head.status.startsWith('2') : head.status[0] === digit2
}

function writeHead(res: AppResponse, head: PassedHead | null): void {
  if (head === null) return
  res.writeStatus(head.status)
  const { headers } = head
  for (let i = 0; i < headers.length; i += 2) res.writeHeader(headers[i]!, headers[i + 1]!)
}

const overloaded = failure(new ServiceError('overloaded'), '\r\nConnection: close')

/** More bytes wait for the main thread than may. */
function refuse(res: AppResponse): void {
  res.cork(() => res.writeStatus(headOf(overloaded.status, overloaded.headers)).end(overloaded.body, true))
}
