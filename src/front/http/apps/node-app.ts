// The HTTP interface on Node's own server, for platforms where the native server does not load.
import { createServer, type IncomingMessage, type Server, ServerResponse, STATUS_CODES } from 'node:http'
import { type AddressInfo, type ListenOptions, type Socket, Server as TcpServer } from 'node:net'
import { headerBytesMax } from '../../../config.js'
import { fixedHeaders } from '../request/respond.js'
import type { App, AppHandler, AppMethod, AppRequest, AppResponse, SocketRoute } from './app.js'
import { type ConnectionOptions, Connections } from './connections.js'
import { copyIfShared } from './copy-if-shared.js'
import { NodeSockets } from './node-sockets.js'
import { Handlers } from './path-tree.js'

/** A connection that is silent for this long is closed: between requests, in headers and in bodies. */
const silentMs = 10_000
/** Bytes of a body in a millisecond, on the whole: what comes slower for longer than `silentMs` is cut, as on the native server. */
const bodyBytesPerMsMin = 16
/** Interval at which Node checks for slow requests. */
const checkMs = 1_000

/** A server of Node's `http`. */
export class NodeApp implements App {
  private readonly handlers = new Handlers()
  private readonly server: Server
  private readonly sockets = new NodeSockets()
  /** Every connection with its unfinished responses. */
  private readonly connections = new Map<Socket, Set<NodeResponse>>()
  /** Connections that have sent no request yet. Node itself would let them be silent for ever. */
  private readonly silent = new Set<Socket>()
  private readonly bounds: Connections | null

  /** connections: their bounds; null: none. */
  constructor(connections: ConnectionOptions | null = null) {
    this.bounds = connections && new Connections(connections)
    this.server = createServer(
      {
        maxHeaderSize: headerBytesMax,
        headersTimeout: silentMs,
        // a body may take any time while its bytes come fast enough: see watchBody
        requestTimeout: 0,
        keepAliveTimeout: silentMs,
        connectionsCheckingInterval: checkMs,
        noDelay: true,
      },
      (req, res) => this.dispatch(req, res),
    )
    this.server.on('clientError', (error, socket) => refuse(error, socket as Socket))
    this.server.on('connection', socket => this.connected(socket))
    this.server.on('upgrade', (req, socket, head) => this.upgrade(req, socket as Socket, head))
  }

  on(method: AppMethod, path: string, handler: AppHandler): void {
    this.handlers.on(method, path, handler)
  }

  socket(path: string, route: SocketRoute): void {
    this.sockets.add(path, route)
  }

  addressOf(res: AppResponse): string {
    return (res as NodeResponse).address()
  }

  listen(host: string, port: number, shared: boolean): Promise<number> {
    const { server } = this
    return new Promise((resolve, reject) => {
      server.once('error', cause =>
        reject(new Error(`Cannot listen on ${host}:${port}: is it in use?`, { cause })),
      )
      // Node 20 does not know `reusePort`: a second process on the port fails there.
      const where: ListenOptions & { reusePort: boolean } = { port, host, reusePort: shared }
      server.listen(where, () => resolve((server.address() as AddressInfo).port))
    })
  }

  // Node's own `close` would also cut connections with unfinished responses.
  stopListening(): void {
    TcpServer.prototype.close.call(this.server)
    for (const [socket, unanswered] of this.connections) if (unanswered.size === 0) socket.destroySoon()
  }

  close(): void {
    this.server.close()
    this.sockets.close()
    for (const socket of this.connections.keys()) socket.destroy()
  }

  // A peer that closes its sending side counts as disconnected, as on the native server.
  private connected(socket: Socket): void {
    const address = addressOf(socket)
    if (this.bounds?.came(address) === false) {
      socket.destroy()
      return
    }
    const unanswered = new Set<NodeResponse>()
    this.connections.set(socket, unanswered)
    this.silent.add(socket)
    socket.setTimeout(silentMs)
    const left = () => {
      for (const response of unanswered) response.abort()
      unanswered.clear()
    }
    socket.once('end', left)
    socket.once('close', () => {
      left()
      this.connections.delete(socket)
      this.silent.delete(socket)
      this.bounds?.left(address)
    })
  }

  /** A request's head has come: its answer may take any time. */
  private spoke(socket: Socket): void {
    if (this.silent.delete(socket)) socket.setTimeout(0)
  }

  // Node hands over the bare connection: until it is a WebSocket, it is answered as that of any request.
  private upgrade(req: IncomingMessage, socket: Socket, head: Buffer): void {
    this.spoke(socket)
    const { path, query } = targetOf(req)
    const res = new ServerResponse(req)
    res.assignSocket(socket)
    const route = this.sockets.find(path, req)
    if (route === null) {
      // nothing behind such a request is read as another one
      res.once('finish', () => socket.destroySoon())
      this.dispatch(req, res)
      return
    }
    const unanswered = this.connections.get(socket)!
    const response = new NodeResponse(req, res)
    unanswered.add(response)
    res.once('finish', () => {
      unanswered.delete(response)
      socket.destroySoon()
    })
    route.upgrade(response, new NodeRequest(req, 'get', path, query, []), (listener, protocol) => {
      unanswered.delete(response)
      res.detachSocket(socket)
      this.sockets.open({ route, req, socket, head, listener, protocol })
    })
  }

  private dispatch(req: IncomingMessage, res: ServerResponse): void {
    this.spoke(req.socket)
    const method = req.method!.toLowerCase()
    const { path, query } = targetOf(req)
    const parameters: string[] = []
    const handler = this.handlers.find(method, path, parameters)
    if (handler === null) {
      res.writeHead(404).end() // no path is without a handler: `/*` has one
      return
    }
    const unanswered = this.connections.get(req.socket)!
    const response = new NodeResponse(req, res)
    unanswered.add(response)
    res.once('finish', () => unanswered.delete(response))
    watchBody(req)
    handler(response, new NodeRequest(req, method, path, query, parameters))
  }
}

function addressOf({ remoteAddress = '' }: Socket): string {
  return remoteAddress.replace(/^::ffff:(?=\d+\.)/, '')
}

function targetOf({ url }: IncomingMessage): { readonly path: string; readonly query: string | undefined } {
  const target = url!
  const question = target.indexOf('?')
  if (question < 0) return { path: target, query: undefined }
  return { path: target.slice(0, question), query: target.slice(question + 1) }
}

// Answers a request that Node could not parse, with the same statuses and error form.
function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const [status, reason] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? [431, `The request head is larger than ${headerBytesMax} bytes`]
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? [408, 'The request took too long to arrive']
        : [400, 'The request is not valid HTTP']
  const body = JSON.stringify({ error: reason })
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: ${fixedHeaders}\r\nConnection: close\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
  )
}

/**
 * Cut a connection whose body is silent or slow, whether the request was answered meanwhile or not: a byte now and then
 * would keep it open for ever (security L4). The body is read to its end even where no handler wants it.
 */
function watchBody(req: IncomingMessage): void {
  const { socket } = req
  const length = Number(req.headers['content-length'] ?? 0)
  if (length === 0 && req.headers['transfer-encoding'] === undefined) return
  const beganMs = performance.now()
  let received = 0
  // Node destroys a socket that times out; there is no such limit while the answer is computed
  socket.setTimeout(silentMs)
  const whole = () => socket.setTimeout(0)
  req.on('data', (chunk: Buffer) => {
    received += chunk.length
    if (received === length) whole()
    else if (performance.now() - beganMs > silentMs + received / bodyBytesPerMsMin) socket.destroy()
  })
  req.once('end', () => {
    if (received !== length) whole()
  })
}

class NodeRequest implements AppRequest {
  constructor(
    private readonly req: IncomingMessage,
    private readonly method: string,
    private readonly path: string,
    private readonly query: string | undefined,
    private readonly parameters: readonly string[],
  ) {}

  getMethod(): string {
    return this.method
  }

  getUrl(): string {
    return this.path
  }

  getQuery(): string | undefined {
    return this.query
  }

  getParameter(index: number): string {
    return this.parameters[index] ?? ''
  }

  // Node joins repeated headers; the interface returns the first.
  getHeader(name: string): string {
    const value = this.req.headers[name]
    if (value === undefined) return ''
    if (typeof value === 'string' && !value.includes(',')) return value
    const { rawHeaders } = this.req
    for (let i = 0; i < rawHeaders.length; i += 2)
      if (rawHeaders[i]!.toLowerCase() === name) return rawHeaders[i + 1]!
    return ''
  }

  forEach(each: (name: string, value: string) => void): void {
    const { rawHeaders } = this.req
    for (let i = 0; i < rawHeaders.length; i += 2) each(rawHeaders[i]!.toLowerCase(), rawHeaders[i + 1]!)
  }
}

class NodeResponse implements AppResponse {
  private statusLine = '200 OK'
  private aborted: (() => void) | null = null
  private readonly headers: string[] = []
  private headWritten = false
  /** Length of a body written whole. */
  private totalBytes = 0

  constructor(
    private readonly req: IncomingMessage,
    private readonly res: ServerResponse,
  ) {}

  address(): string {
    return addressOf(this.req.socket)
  }

  onAborted(aborted: () => void): void {
    this.aborted = aborted
  }

  /** The peer disconnected before the response was complete. */
  abort(): void {
    this.aborted?.()
  }

  onData(data: (chunk: ArrayBuffer, isLast: boolean) => void): void {
    const { req } = this
    const length = Number(req.headers['content-length'] ?? Number.NaN)
    let received = 0
    let isWhole = false
    req.on('data', (chunk: Buffer) => {
      received += chunk.length
      isWhole = received === length
      data(copyOf(chunk), isWhole)
    })
    req.once('end', () => {
      // a body without bytes gives one empty piece
      if (!isWhole) data(new ArrayBuffer(0), true)
    })
  }

  cork(write: () => void): void {
    write()
  }

  writeStatus(status: string | Uint8Array): this {
    const [line, ...headers] = text(status).split('\r\n')
    this.statusLine = line!
    for (const header of headers) {
      const colon = header.indexOf(': ')
      this.headers.push(header.slice(0, colon), header.slice(colon + 2))
    }
    return this
  }

  writeHeader(name: string, value: string): this {
    const [first, ...headers] = value.split('\r\n')
    this.headers.push(name, first!)
    for (const header of headers) {
      const colon = header.indexOf(': ')
      this.headers.push(header.slice(0, colon), header.slice(colon + 2))
    }
    return this
  }

  end(body: string | Uint8Array = '', closeConnection = false): void {
    if (closeConnection) this.headers.push('Connection', 'close')
    if (!this.headWritten) {
      this.headers.push(
        'Content-Length',
        String(typeof body === 'string' ? Buffer.byteLength(body) : body.length),
      )
      this.writeHead()
    }
    this.watchReader()
    this.res.end(copyIfShared(body))
  }

  endWithoutBody(): void {
    this.writeHead()
    this.res.end()
  }

  tryEnd(rest: Uint8Array, totalBytes: number): [boolean, boolean] {
    if (this.headWritten) return [true, this.res.writableFinished]
    this.totalBytes = totalBytes
    this.headers.push('Content-Length', String(totalBytes))
    this.writeHead()
    this.watchReader()
    this.res.end(copyIfShared(rest))
    return [this.res.writableFinished, this.res.writableFinished]
  }

  write(piece: Uint8Array): boolean {
    if (!this.headWritten) this.writeHead()
    const isTaken = this.res.write(piece)
    if (!isTaken) this.watchReader()
    return isTaken
  }

  /**
   * Cut the connection of a reader that takes nothing for 10 to 20 s, as Node looks every 10 s whether something was taken since. The
   * native server cuts it after 10 s (security H1). When the answer is sent Node sets a limit of its own, for the time until the next request.
   */
  private watchReader(): void {
    this.req.socket.setTimeout(silentMs)
  }

  // A body written whole counts as written when all of it is sent; one in pieces continues when its buffer is empty.
  onWritable(writable: (offset: number) => boolean): void {
    const { res } = this
    res.on('drain', () => {
      if (res.writableEnded) return
      // the next piece may take any time
      this.req.socket.setTimeout(0)
      writable(0)
    })
    res.once('finish', () => writable(this.totalBytes))
  }

  close(): void {
    this.res.destroy()
  }

  private writeHead(): void {
    this.headWritten = true
    const space = this.statusLine.indexOf(' ')
    this.res.writeHead(
      Number(this.statusLine.slice(0, space)),
      this.statusLine.slice(space + 1),
      this.headers,
    )
  }
}

const text = (value: string | Uint8Array): string =>
  typeof value === 'string' ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString()

function copyOf({ buffer, byteOffset, byteLength }: Buffer): ArrayBuffer {
  return buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer
}
