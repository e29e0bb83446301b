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
import type { Unread, UnreadAnswers } from '../../src/front/http/request/unread-answers.js'
import { ByteShares } from '../../src/turns/byte-shares.js'
import type { FromFront, Gathered, PassedHead, ToFront } from '../../src/wire/passed.js'

/** Messages that concern no single request. */
type OfFront = Extract<
  ToFront,
  readonly [op: 'stop' | 'close' | 'told' | 'shard' | 'durable' | 'untaken' | 'undone', ...unknown[]]
>
type OfRequest = Exclude<ToFront, OfFront>

/**
 * Characters of messages that may be on their way to the main thread: of one WebSocket, and of all of this front, of which
 * callers with one key have three quarters at most. Beyond, the WebSocket is closed with this code.
 */
const unheardMax = 8 << 20
const unheardOfAllMax = 64 << 20
/** A message counts as so many characters more: an empty one takes memory, too. */
const messageCharacters = 64
const tryLater = 1013

/** A request on its way. */
interface Passed {
  readonly res: AppResponse
  /** Callers who share what may wait for them and for the main thread: by their key, or else by their address. */
  readonly group: string
  /** Bytes of its body that the main thread was sent. */
  bytes: number
  /** Bytes of pieces that wait for the caller to take them. */
  waiting: number
  /** Opens the WebSocket that it asks for; null: it asks for none. */
  readonly accept: ((listener: SocketListener, protocol: string) => void) | null
  /** Called when the answer is a success. */
  readonly then: (() => void) | null
}

/** A WebSocket that is open. */
interface Open {
  readonly socket: AppSocket
  readonly group: string
  /** Bytes of messages that the main thread does not know to have left. */
  unsent: number
  /** Characters of messages that the main thread has not worked on. */
  unheard: number
}

/** Headers of a request as they came, names and values in turn. */
function headersOf(req: AppRequest): string[] {
  const headers: string[] = []
  req.forEach((name, value) => void headers.push(name, value))
  return headers
}

export class Passing {
  private readonly passed = new Map<number, Passed>()
  private readonly sockets = new Map<number, Open>()
  /** Characters of messages that the main thread has not worked on. */
  private readonly unheard = new ByteShares(unheardOfAllMax)
  /** Answers that their callers have not taken. */
  private readonly unread = new Map<number, Unread>()
  private last = 0
  /** Bytes of bodies of requests without an answer. */
  private readonly bodies: ByteShares
  private readonly keyNames: ReadonlySet<string>

  /**
   * bytesMax    of bodies of requests without an answer, of which callers with one key have three quarters at most.
   * keyHeaders  headers that name a key.
   */
  constructor(
    private readonly app: App,
    private readonly out: Gathered<FromFront>,
    bytesMax: number,
    private readonly answers: UnreadAnswers,
    keyHeaders: readonly string[],
  ) {
    this.bodies = new ByteShares(bytesMax)
    this.keyNames = new Set(keyHeaders.map(name => name.toLowerCase()))
  }

  /** The address of a request's peer. */
  addressOf(res: AppResponse): string {
    return this.app.addressOf(res)
  }

  /** Pass a request on that has just come. then: called when its answer is a success. */
  begin(res: AppResponse, req: AppRequest, then: Passed['then'] = null): void {
    const headers = headersOf(req)
    const address = this.app.addressOf(res)
    const n = this.add(res, this.groupOf(headers, address), null, then)
    this.out.say(['head', n, req.getMethod(), req.getUrl(), req.getQuery(), headers, address, false])
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
    const address = this.app.addressOf(res)
    const n = this.add(res, this.groupOf(headers, address), null, then)
    this.out.say(['head', n, 'post', url, undefined, headers, address, false])
    this.data(n, body, true)
    return () => this.gone(n)
  }

  /** A path that takes WebSocket connections. */
  route(frameBytesMax: number): SocketRoute {
    return {
      frameBytesMax,
      upgrade: (res, req, accept) => {
        const headers = headersOf(req)
        const address = this.app.addressOf(res)
        const n = this.add(res, this.groupOf(headers, address), accept, null)
        res.onAborted(() => this.gone(n))
        this.out.say(['head', n, req.getMethod(), req.getUrl(), req.getQuery(), headers, address, true])
      },
    }
  }

  /** Do what the main thread says. */
  hear(said: OfRequest): void {
    const [op, n] = said
    if (op === 'send' || op === 'shut') return this.tell(n, said)
    if (op === 'heard') return this.heard(n, said[2])
    if (op === 'cut') return this.cut(n)
    const one = this.passed.get(n)
    // the caller has left meanwhile
    if (one === undefined) return
    if (op === 'accept') {
      this.settle(n, one)
      one.accept!(this.listener(n, one.group), said[2])
      return
    }
    const { res } = one
    if (op === 'piece') return this.piece(n, one, said[2], said[3])
    this.settle(n, one)
    if (one.then !== null && isSuccess(said[2])) one.then()
    res.cork(() => {
      writeHead(res, said[2])
      if (op === 'end') res.end(said[3], said[4])
      else if (op === 'bare') res.endWithoutBody()
      else this.large(n, one, said[3])
    })
  }

  private large(n: number, { res, group }: Passed, body: Uint8Array): void {
    const unread = this.answers.send(res, body, group, () => this.taken(n))
    if (unread !== null) this.unread.set(n, unread)
  }

  /** The answer of a request was sent, or its caller has left. */
  private taken(n: number): void {
    this.unread.get(n)?.over()
    this.unread.delete(n)
  }

  private add(res: AppResponse, group: string, accept: Passed['accept'], then: Passed['then']): number {
    this.passed.set(++this.last, { res, group, bytes: 0, waiting: 0, accept, then })
    return this.last
  }

  /** Unknown keys hold nothing: the main thread refuses them before it takes a body. */
  private groupOf(headers: readonly string[], address: string): string {
    for (let i = 0; i < headers.length; i += 2)
      if (this.keyNames.has(headers[i]!) && headers[i + 1] !== '') return headers[i + 1]!
    return address
  }

  private settle(n: number, one: Passed): void {
    this.passed.delete(n)
    this.bodies.give(one.group, one.bytes)
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
    if (this.bodies.take(one.group, chunk.byteLength)) {
      one.bytes += chunk.byteLength
      return this.out.say(['data', n, new Uint8Array(chunk), isLast])
    }
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

  private listener(n: number, group: string): SocketListener {
    return {
      opened: socket => void this.sockets.set(n, { socket, group, unsent: 0, unheard: 0 }),
      received: text => this.received(n, text),
      drained: () => this.told(n),
      closed: isKept => {
        this.unheard.give(group, this.sockets.get(n)?.unheard ?? 0)
        this.sockets.delete(n)
        this.out.say(['closed', n, isKept])
      },
    }
  }

  private cut(n: number): void {
    const one = this.passed.get(n)
    if (one === undefined) return this.sockets.get(n)?.socket.cut()
    this.settle(n, one)
    one.res.close()
  }

  private received(n: number, text: string): void {
    const one = this.sockets.get(n)
    if (one === undefined) return
    const characters = text.length + messageCharacters
    if (one.unheard + characters > unheardMax || !this.unheard.take(one.group, characters))
      return one.socket.end(tryLater, 'Too many messages at once')
    one.unheard += characters
    this.out.say(['text', n, text])
  }

  /** The main thread has worked on a message. */
  private heard(n: number, length: number): void {
    const one = this.sockets.get(n)
    if (one === undefined) return
    const characters = length + messageCharacters
    one.unheard -= characters
    this.unheard.give(one.group, characters)
  }

  private tell(n: number, said: Extract<ToFront, readonly [op: 'send' | 'shut', ...unknown[]]>): void {
    const one = this.sockets.get(n)
    if (one === undefined) return
    if (said[0] === 'shut') return one.socket.end(said[2], said[3])
    one.socket.send(said[2])
    one.unsent += said[2].length
    this.told(n)
  }

  private told(n: number): void {
    const one = this.sockets.get(n)
    if (one === undefined || one.unsent === 0 || one.socket.buffered() > 0) return
    this.out.say(['taken', n, one.unsent])
    one.unsent = 0
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
