// The connection from one node to another. It stays open and carries requests to shards, and calls, as
// frames. Each node opens one connection to every other node; the answers come back on the same connection.
//
//   packet | length 4 | a list of frames, as v8 writes it |
//
// Frames of one turn leave as one packet.
//
// Both sides prove that they know the secret before the first frame. With TLS both show a certificate first, and the
// proofs hold for this connection only: a node refuses a proof that was copied from another connection.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { connect as connectTls, createServer as createTlsServer, TLSSocket } from 'node:tls'
import { deserialize, serialize } from 'node:v8'
import { ServiceError } from '../errors.js'
import type { Packet } from '../wire/message-codec.js'
import { PeerClock } from './peer-clock.js'
import { faultOfSpeech, speech } from './protocol.js'
import type { LinkSecurity, LinkTls } from './security.js'
import { faultAsking, faultServing } from './tls-faults.js'

/** Longest packet, and most bytes that wait to be sent to one node. */
const packetBytesMax = 64 << 20
/** Frames of one turn leave before its end when their texts are longer together, characters. */
const gatheredMax = 4 << 20
const waitingBytesMax = 64 << 20
/** Longest message before the other side has proved that it knows the secret, bytes. */
const helloBytesMax = 4_096
const helloMs = 5_000
const connectMs = 2_000
const againMsMax = 250
/** The receiving node closes a connection after this many silence periods without a frame. */
const guestSilences = 2

/** The deadline of requests: nobody waits for them any more when it has passed. */
export interface Due {
  /** By the monotonic clock of the node that asks. */
  readonly dueMs: number
  readonly hasPassed: boolean
}

/** The other side of a connection, once it has proved that it knows the secret. */
export interface Visitor {
  readonly node: string
  readonly slot: number
}

type Frame =
  | readonly ['cells', shard: number, cells: Packet, tries: number, sentMs: number, dueMs: number]
  | readonly ['replies', shard: number, cells: Packet]
  | readonly ['bounced', shard: number, cells: Packet, tries: number, dueMs: number]
  | readonly ['lost', shard: number]
  | readonly ['call', id: number, name: string, given: unknown]
  | readonly ['return', id: number, fine: boolean, value: unknown]
  | readonly ['ping', sentMs: number]
  | readonly ['pong']

/** Handlers of the requests of other nodes. */
export interface Serves {
  /**
   * Requests to a shard. `reply` sends the answers; `bounce` reports that the shard is not here.
   *
   * due  until when they may be begun.
   */
  cells(guest: Guest, shard: number, cells: Packet, tries: number, due: Due): void
  call(guest: Visitor, name: string, given: unknown): Promise<unknown>
  /** The connection of a node ended. */
  left(guest: Guest): void
  /** A node at this address was refused: TLS failed, or its build and this one do not work side by side. */
  refused(address: string, reason: string): void
}

/** The same, with connections that begin. */
interface Receives extends Serves {
  came(guest: Guest): void
}

/** Handlers of the frames of another node. */
interface Hears {
  replies(shard: number, cells: Packet): void
  bounced(shard: number, cells: Packet, tries: number, dueMs: number): void
  /** The thread of a shard of that node ended. Requests to it that have no answer by now never get one. */
  lost(shard: number): void
  up(): void
  /** The connection ended. Requests that have no answer by now never get one. */
  down(): void
  /** The connection with that node was refused: TLS failed, or its build and this one do not work side by side. */
  refused(reason: string): void
}

/** For a connection that only calls. */
export const hearsNothing: Hears = {
  replies: () => {},
  bounced: () => {},
  lost: () => {},
  up: () => {},
  down: () => {},
  refused: () => {},
}

/** Packets over one socket. */
class Wire {
  private pieces: Buffer[] = []
  private length = 0
  /** Bytes that the next packet needs with its length, as far as is known: pieces are joined when they are there. */
  private awaited = 4
  /** Frames of this turn, and the length of their texts. */
  private frames: unknown[] = []
  private gathered = 0
  /** Until both sides have proved that they know the secret, messages are short and JSON. */
  private isOpen = false
  /** Time of the last piece received, and time of the last check, ms of the monotonic clock. */
  private heardMs = performance.now()
  private lookedMs = performance.now()

  constructor(
    readonly socket: Socket,
    private readonly take: (value: unknown) => void,
  ) {
    socket.setNoDelay(true)
    socket.on('data', (piece: Buffer) => this.data(piece))
    socket.on('error', () => {})
  }

  /** Packets of full length are allowed from now on. */
  open(): void {
    this.isOpen = true
  }

  /**
   * Whether nothing was received for so long. A check that runs late itself does not count: this thread was
   * stalled.
   */
  isSilent(forMs: number): boolean {
    const nowMs = performance.now()
    const late = nowMs - this.lookedMs > forMs / 2
    this.lookedMs = nowMs
    if (late) this.heardMs = nowMs
    return nowMs - this.heardMs > forMs
  }

  get isFull(): boolean {
    return this.socket.writableLength + this.gathered > waitingBytesMax
  }

  /**
   * Send a frame at the end of this turn; before both sides are known, a message at once.
   *
   * length  of its texts, characters.
   */
  send(value: unknown, length = 0): void {
    if (!this.isOpen) return this.write(Buffer.from(JSON.stringify(value)))
    if (this.frames.length === 0) queueMicrotask(() => this.flush())
    this.frames.push(value)
    this.gathered += length
    if (this.gathered > gatheredMax) this.flush()
  }

  private flush(): void {
    const { frames } = this
    if (frames.length === 0) return
    this.frames = []
    this.gathered = 0
    if (!this.socket.destroyed) this.write(serialize(frames))
  }

  private write(bytes: Buffer): void {
    const head = Buffer.allocUnsafe(4)
    head.writeUInt32LE(bytes.length)
    this.socket.cork()
    this.socket.write(head)
    this.socket.write(bytes)
    this.socket.uncork()
  }

  private data(piece: Buffer): void {
    this.heardMs = performance.now()
    this.pieces.push(piece)
    this.length += piece.length
    if (this.length < this.awaited) return
    let bytes = this.pieces.length === 1 ? piece : Buffer.concat(this.pieces)
    this.awaited = 4
    while (bytes.length >= 4 && !this.socket.destroyed) {
      const wanted = bytes.readUInt32LE(0)
      if (wanted > (this.isOpen ? packetBytesMax : helloBytesMax)) {
        this.socket.destroy()
        return
      }
      if (bytes.length < 4 + wanted) {
        this.awaited = 4 + wanted
        break
      }
      const packet = bytes.subarray(4, 4 + wanted)
      try {
        if (this.isOpen) for (const frame of deserialize(packet) as readonly unknown[]) this.take(frame)
        else this.take(JSON.parse(packet.toString()))
      } catch {
        this.socket.destroy()
        return
      }
      bytes = bytes.subarray(4 + wanted)
    }
    this.pieces = bytes.length === 0 ? [] : [bytes]
    this.length = bytes.length
  }
}

const lengthOf = ([, text, , received = '', uses = '']: Packet): number =>
  text.length + received.length + uses.length

/** Bytes that the two ends of one TLS connection share, and nobody else; none without TLS. */
function bindingOf(socket: Socket): readonly string[] {
  if (!(socket instanceof TLSSocket)) return []
  return [socket.exportKeyingMaterial(32, 'EXPORTER-tollgate-nodes', Buffer.alloc(0)).toString('base64url')]
}

/** The authority is that of the nodes alone, and nodes change their addresses: names are not compared. */
function tlsOptions(tls: LinkTls) {
  return {
    ...tls,
    minVersion: 'TLSv1.3',
    requestCert: true,
    rejectUnauthorized: true,
    handshakeTimeout: helloMs,
    checkServerIdentity: () => undefined,
  } as const
}

const proof = (secret: string, side: 'asks' | 'serves', ...parts: readonly string[]): string =>
  createHmac('sha256', secret)
    .update([side, ...parts].join('\n'))
    .digest('base64url')

function isProof(given: unknown, wanted: string): boolean {
  if (typeof given !== 'string' || given.length !== wanted.length) return false
  return timingSafeEqual(Buffer.from(given), Buffer.from(wanted))
}

interface Hello {
  readonly version: number
  readonly oldest?: number
  readonly node: string
  readonly slot: number
  readonly nonce: string
  readonly proof: string
}

/** Another node that sends requests to this one. */
export class Guest implements Visitor {
  private readonly clock = new PeerClock()

  constructor(
    readonly node: string,
    readonly slot: number,
    private readonly wire: Wire,
  ) {}

  reply(shard: number, cells: Packet): void {
    this.send(['replies', shard, cells], lengthOf(cells))
  }

  bounce(shard: number, cells: Packet, tries: number, { dueMs }: Due): void {
    this.send(['bounced', shard, cells, tries, dueMs], lengthOf(cells))
  }

  lost(shard: number): void {
    this.send(['lost', shard])
  }

  /** A frame that says when it was sent. Returns the present by the clock of its sender. */
  heard(sentMs: number): number {
    return this.clock.heard(sentMs, performance.now())
  }

  send(frame: Frame, length = 0): void {
    if (!this.wire.socket.destroyed) this.wire.send(frame, length)
  }

  end(): void {
    this.wire.socket.destroy()
  }
}

/** The server that accepts connections of other nodes. */
export class Door {
  private constructor(
    private readonly server: Server,
    readonly port: number,
    private readonly open: Set<Socket>,
    private readonly guests: Set<Guest>,
  ) {}

  /** silenceMs: a live node sends a frame at least this often. */
  static async listen(
    where: { host: string; port: number },
    { secret, tls }: LinkSecurity,
    silenceMs: number,
    serves: Serves,
  ): Promise<Door> {
    const open = new Set<Socket>()
    const guests = new Set<Guest>()
    const known: Receives = {
      ...serves,
      came: guest => guests.add(guest),
      left: guest => {
        guests.delete(guest)
        serves.left(guest)
      },
    }
    const take = (socket: Socket): void => welcome(socket, secret, silenceMs * guestSilences, known)
    const server: Server = tls === null ? createServer(take) : createTlsServer(tlsOptions(tls), take)
    // Its own address is gone by then. That of the socket below it was read before, so Node keeps it.
    server.on('tlsClientError', (error: Error, socket: TLSSocket & { readonly _parent?: Socket | null }) => {
      const reason = faultServing(error, socket)
      if (reason !== null) serves.refused(socket._parent?.remoteAddress ?? 'unknown', reason)
    })
    server.on('connection', (socket: Socket) => {
      void socket.remoteAddress
      open.add(socket)
      socket.on('close', () => open.delete(socket))
    })
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(where.port, where.host, resolve)
    })
    return new Door(server, (server.address() as { port: number }).port, open, guests)
  }

  /** End the connections of a node that left the cluster. Its requests get no answer. */
  expel(node: string): void {
    for (const guest of this.guests) if (guest.node === node) guest.end()
  }

  async close(): Promise<void> {
    for (const socket of this.open) socket.destroy()
    await new Promise(resolve => this.server.close(resolve))
  }
}

function welcome(socket: Socket, secret: string, silenceMs: number, serves: Receives): void {
  const nonce = randomBytes(24).toString('base64url')
  let guest: Guest | null = null
  const late = setTimeout(() => socket.destroy(), helloMs)
  const wire = new Wire(socket, value => {
    if (guest !== null) return void serve(guest, value as Frame, serves)
    const hello = value as Partial<Hello> | null
    const { version, oldest, node, slot, nonce: theirs, proof: shown } = hello ?? {}
    const fault = faultOfSpeech(version, oldest)
    if (fault !== null) {
      serves.refused(socket.remoteAddress ?? 'unknown', `it ${fault}`)
      return void socket.destroy()
    }
    const known =
      typeof node === 'string' &&
      typeof slot === 'number' &&
      typeof theirs === 'string' &&
      isProof(shown, proof(secret, 'asks', nonce, theirs, node, String(slot), ...bindingOf(socket)))
    if (!known) return void socket.destroy()
    clearTimeout(late)
    guest = new Guest(node, slot, wire)
    serves.came(guest)
    wire.send({ proof: proof(secret, 'serves', nonce, theirs, ...bindingOf(socket)) })
    wire.open()
  })
  wire.send({ ...speech, nonce })
  const listening = setInterval(() => {
    if (wire.isSilent(silenceMs)) socket.destroy()
  }, silenceMs / 4)
  socket.on('close', () => {
    clearTimeout(late)
    clearInterval(listening)
    if (guest !== null) serves.left(guest)
  })
}

async function serve(guest: Guest, frame: Frame, serves: Serves): Promise<void> {
  if (frame[0] === 'cells') {
    const [, shard, cells, tries, sentMs, dueMs] = frame
    return serves.cells(guest, shard, cells, tries, { dueMs, hasPassed: guest.heard(sentMs) > dueMs })
  }
  if (frame[0] === 'ping') {
    guest.heard(frame[1])
    return guest.send(['pong'])
  }
  if (frame[0] !== 'call') return
  const [, id, name, given] = frame
  try {
    guest.send(['return', id, true, await serves.call(guest, name, given)])
  } catch (error) {
    const said =
      error instanceof ServiceError ? { code: error.code, text: error.message } : { text: String(error) }
    guest.send(['return', id, false, said])
  }
}

interface Calling {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

/** Another node, to which this one sends requests. Reconnects until it is closed. */
export class Peer {
  private wire: Wire | null = null
  private socket: Socket | null = null
  private readonly calls = new Map<number, Calling>()
  private nextCall = 0
  private closed = false
  private fails = 0
  private readonly beating: NodeJS.Timeout
  /** Since when the peer is unreachable, of the monotonic clock; null: it is connected. */
  private downSinceMs: number | null = performance.now()

  /** silenceMs: a connection is closed after this long without a frame. */
  constructor(
    readonly node: string,
    private readonly where: { readonly host: string; readonly port: number },
    private readonly self: Visitor,
    private readonly security: LinkSecurity,
    private readonly silenceMs: number,
    private readonly hears: Hears,
  ) {
    this.beating = setInterval(() => this.beat(), silenceMs / 4)
    this.connect()
  }

  /** Whether the peer has been unreachable for so long. */
  isLost(forMs: number): boolean {
    return this.downSinceMs !== null && performance.now() - this.downSinceMs > forMs
  }

  private beat(): void {
    const { wire } = this
    if (wire === null) return
    if (wire.isSilent(this.silenceMs)) wire.socket.destroy()
    else this.ping(wire)
  }

  private ping(wire: Wire): void {
    wire.send(['ping', performance.now()] satisfies Frame)
  }

  get isUp(): boolean {
    return this.wire !== null
  }

  /**
   * Send requests to one of its shards. Returns false when they cannot be sent now; nothing was sent then.
   *
   * dueMs  until when they may be begun, by the monotonic clock.
   */
  post(shard: number, cells: Packet, tries: number, dueMs: number): boolean {
    if (this.wire === null || this.wire.isFull) return false
    const frame = ['cells', shard, cells, tries, performance.now(), dueMs] satisfies Frame
    this.wire.send(frame, lengthOf(cells))
    return true
  }

  /** errors  ServiceError: as the peer reports it, or `starting` when the connection is or was down. */
  call(name: string, given: unknown): Promise<unknown> {
    const { wire } = this
    if (wire === null || wire.isFull)
      return Promise.reject(new ServiceError('starting', 'A node is not reached'))
    const id = ++this.nextCall
    return new Promise((resolve, reject) => {
      this.calls.set(id, { resolve, reject })
      wire.send(['call', id, name, given] satisfies Frame)
    })
  }

  close(): void {
    this.closed = true
    clearInterval(this.beating)
    this.socket?.destroy()
  }

  private connect(): void {
    if (this.closed) return
    const { secret, tls } = this.security
    const where = { ...this.where, timeout: connectMs }
    const socket = tls === null ? connect(where) : connectTls({ ...where, ...tlsOptions(tls) })
    this.socket = socket
    socket.on('error', error => {
      const reason = faultAsking(error)
      if (reason !== null) this.hears.refused(reason)
    })
    socket.on('timeout', () => {
      if (this.wire === null) socket.destroy()
    })
    const nonce = randomBytes(24).toString('base64url')
    let theirs: string | null = null
    const wire: Wire = new Wire(socket, value => {
      if (this.wire === wire) return this.take(value as Frame)
      const said = (value ?? {}) as Readonly<Record<'version' | 'oldest' | 'nonce' | 'proof', unknown>>
      const fault = theirs === null ? faultOfSpeech(said.version, said.oldest) : null
      if (fault !== null) {
        this.hears.refused(`it ${fault}`)
        socket.destroy()
      } else if (theirs === null && typeof said.nonce === 'string') {
        theirs = said.nonce
        const { node, slot } = this.self
        const parts = [theirs, nonce, node, String(slot), ...bindingOf(socket)]
        wire.send({ ...speech, node, slot, nonce, proof: proof(secret, 'asks', ...parts) })
      } else if (
        theirs !== null &&
        isProof(said.proof, proof(secret, 'serves', theirs, nonce, ...bindingOf(socket)))
      ) {
        this.wire = wire
        this.fails = 0
        this.downSinceMs = null
        wire.open()
        this.ping(wire)
        this.hears.up()
      } else socket.destroy()
    })
    socket.on('close', () => {
      const was = this.wire === wire
      if (was) this.wire = null
      this.downSinceMs ??= performance.now()
      for (const one of this.calls.values()) one.reject(new ServiceError('starting', 'A node went away'))
      this.calls.clear()
      if (was) this.hears.down()
      if (!this.closed) setTimeout(() => this.connect(), Math.min(10 * 2 ** this.fails++, againMsMax))
    })
  }

  private take(frame: Frame): void {
    if (frame[0] === 'replies') return this.hears.replies(frame[1], frame[2])
    if (frame[0] === 'bounced') return this.hears.bounced(frame[1], frame[2], frame[3], frame[4])
    if (frame[0] === 'lost') return this.hears.lost(frame[1])
    if (frame[0] !== 'return') return
    const calling = this.calls.get(frame[1])
    this.calls.delete(frame[1])
    if (calling === undefined) return
    if (frame[2]) return calling.resolve(frame[3])
    const { code, text } = frame[3] as { code?: ConstructorParameters<typeof ServiceError>[0]; text: string }
    calling.reject(new ServiceError(code ?? 'internal', text))
  }
}
