// WebSocket connections on Node's own HTTP server.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import { type AppSocket, type SocketListener, type SocketRoute, socketPingSeconds } from './app.js'
import { ControlFrames, tooManyPings } from './control-frames.js'

/**
 * Pieces that a message may come in, as fragments and as bytes from the network: each takes some 200 bytes beside its own until
 * the message is whole (security H1).
 */
const piecesMax = 1_024

/** A connection that is let in. */
interface Opening {
  readonly route: SocketRoute
  readonly req: IncomingMessage
  readonly socket: Socket
  readonly head: Buffer
  readonly listener: SocketListener
  readonly protocol: string
}

/** Paths that take WebSocket connections, and the connections that are open. */
export class NodeSockets {
  private readonly routes = new Map<
    string,
    { readonly route: SocketRoute; readonly server: WebSocketServer }
  >()
  private readonly protocols = new WeakMap<IncomingMessage, string>()
  /** Whether each has been heard of since the last ping. */
  private readonly alive = new Map<WebSocket, boolean>()
  private readonly pings = setInterval(() => this.ping(), socketPingSeconds * 1_000).unref()

  add(path: string, route: SocketRoute): void {
    const server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: route.frameBytesMax,
      maxFragments: piecesMax,
      maxBufferedChunks: piecesMax,
      handleProtocols: (_, req) => this.protocols.get(req) || false,
    })
    this.routes.set(path, { route, server })
  }

  /** The route of a path, if the request asks for a WebSocket; null: it is an ordinary request. */
  find(path: string, req: IncomingMessage): SocketRoute | null {
    const isWebSocket = req.method === 'GET' && req.headers.upgrade?.toLowerCase() === 'websocket'
    return isWebSocket ? (this.routes.get(path)?.route ?? null) : null
  }

  open({ route, req, socket, head, listener, protocol }: Opening): void {
    const { server } = [...this.routes.values()].find(one => one.route === route)!
    this.protocols.set(req, protocol)
    server.handleUpgrade(req, socket, head, ws => {
      this.alive.set(ws, true)
      const own = new NodeSocket(ws)
      const noted = () => this.alive.set(ws, true)
      const control = new ControlFrames()
      const controlled = () => {
        noted()
        if (control.took(ws.bufferedAmount)) return
        if (ws.readyState === ws.OPEN) own.end(...tooManyPings)
        else ws.terminate()
      }
      ws.on('pong', controlled)
      ws.on('ping', controlled)
      ws.on('message', (data, isBinary) => {
        noted()
        if (isBinary) own.end(1003, 'Text frames only')
        else listener.received(String(data))
      })
      // what is wrong with a frame closes the connection, which is told below
      ws.on('error', () => {})
      ws.on('close', () => {
        this.alive.delete(ws)
        listener.closed(false)
      })
      socket.on('drain', () => listener.drained())
      listener.opened(own)
    })
  }

  close(): void {
    clearInterval(this.pings)
    for (const ws of this.alive.keys()) ws.terminate()
  }

  private ping(): void {
    for (const [ws, heard] of this.alive) {
      if (!heard) {
        ws.terminate()
        continue
      }
      this.alive.set(ws, false)
      ws.ping()
    }
  }
}

class NodeSocket implements AppSocket {
  constructor(private readonly ws: WebSocket) {}

  send(text: Uint8Array): void {
    this.ws.send(text, { binary: false })
  }

  buffered(): number {
    return this.ws.bufferedAmount
  }

  end(code: number, reason: string): void {
    if (this.buffered() > 0) this.ws.terminate()
    else this.ws.close(code, reason)
  }

  cut(): void {
    this.ws.terminate()
  }
}
