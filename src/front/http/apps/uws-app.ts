// The HTTP interface on uWebSockets.js, with the native server's own objects.
import type { HttpResponse, TemplatedApp, us_listen_socket, WebSocket } from 'uWebSockets.js'
import { prepareNative } from '../../../config.js'
import {
  type App,
  type AppHandler,
  type AppMethod,
  type AppRequest,
  type AppResponse,
  type AppSocket,
  type SocketListener,
  type SocketRoute,
  socketSilentSeconds,
} from './app.js'
import { type ConnectionOptions, Connections } from './connections.js'
import { ControlFrames, tooManyPings } from './control-frames.js'
import { Peers } from './peers.js'
import { systemConnections } from './system-connections.js'

prepareNative()
// Imported dynamically, after its environment variables are set.
const { default: uWS } = await import('uWebSockets.js')

/** Options of `listen`. On an exclusive port a second process fails instead of silently taking half of the connections. */
const [sharedPort, exclusivePort] = [0, 1]

/** A server on uWebSockets.js. Importing this file fails if its binary does not load. */
export class UwsApp implements App {
  private readonly app: TemplatedApp = uWS.App()
  private readonly peers: Peers
  private listening: us_listen_socket | null = null
  private port = 0

  /** connections: their bounds; null: none. */
  constructor(connections: ConnectionOptions | null = null) {
    this.peers = new Peers(
      this.app,
      connections && new Connections(connections, () => systemConnections(this.port)),
    )
  }

  on(method: AppMethod, path: string, handler: AppHandler): void {
    this.app[method](path, handler as Parameters<TemplatedApp['get']>[1])
  }

  socket(path: string, route: SocketRoute): void {
    this.app.ws<Held>(path, {
      maxPayloadLength: route.frameBytesMax,
      idleTimeout: socketSilentSeconds,
      maxBackpressure: 0, // bounded by whoever sends
      sendPingsAutomatically: true,
      upgrade: (res, req, context) => {
        const key = req.getHeader('sec-websocket-key')
        const extensions = req.getHeader('sec-websocket-extensions')
        route.upgrade(
          res as unknown as AppResponse,
          req as unknown as AppRequest,
          // Not corked: where the connection keeps its place in memory, the end of the cork would take it for a request
          // still, and close it now and then.
          (listener: SocketListener, protocol: string) =>
            res.upgrade<Held>(
              { listener, socket: null, control: new ControlFrames() },
              key,
              protocol,
              extensions,
              context,
            ),
        )
      },
      open: ws => {
        const held = ws.getUserData()
        held.socket = new UwsSocket(ws)
        held.listener.opened(held.socket)
      },
      message: (ws, message, isBinary) => {
        const { listener, socket } = ws.getUserData()
        if (isBinary) socket!.end(1003, 'Text frames only')
        else listener.received(Buffer.from(message).toString())
      },
      ping: controlled,
      pong: controlled,
      drain: ws => ws.getUserData().listener.drained(),
      // of a connection that broke nothing is kept
      close: (ws, code) => {
        this.peers.left()
        ws.getUserData().listener.closed(code !== broken)
      },
    })
  }

  addressOf(res: AppResponse): string {
    return this.peers.addressOf(res as unknown as HttpResponse)
  }

  async listen(host: string, port: number, shared: boolean): Promise<number> {
    this.listening = await this.bind(host, port, shared ? sharedPort : exclusivePort)
    this.port = uWS.us_socket_local_port(this.listening)
    return this.port
  }

  stopListening(): void {
    if (this.listening !== null) uWS.us_listen_socket_close(this.listening)
    this.listening = null
  }

  close(): void {
    this.app.close()
  }

  private bind(host: string, port: number, options: number): Promise<us_listen_socket> {
    return new Promise((resolve, reject) => {
      const listening = (socket: us_listen_socket | false) => {
        if (socket) resolve(socket)
        else reject(new Error(`Cannot listen on ${host}:${port}: is it in use?`))
      }
      // The declared types lack this form of `listen`.
      const listen = this.app.listen as unknown as (
        host: string,
        port: number,
        options: number,
        done: typeof listening,
      ) => void
      listen.call(this.app, host, port, options, listening)
    })
  }
}

/** The code of a connection that ended without a close. */
const broken = 1006

/** Data attached to a connection at its upgrade. */
interface Held {
  readonly listener: SocketListener
  /** From its opening on. */
  socket: AppSocket | null
  readonly control: ControlFrames
}

/** A ping, which the server has answered, or a pong. */
function controlled(ws: WebSocket<Held>): void {
  const { control, socket } = ws.getUserData()
  if (!control.took(ws.getBufferedAmount())) socket!.end(...tooManyPings)
}

class UwsSocket implements AppSocket {
  constructor(private readonly ws: WebSocket<Held>) {}

  send(text: Uint8Array): void {
    this.ws.send(text, false)
  }

  buffered(): number {
    return this.ws.getBufferedAmount()
  }

  end(code: number, reason: string): void {
    if (this.buffered() > 0) this.ws.close()
    else this.ws.end(code, reason)
  }

  cut(): void {
    this.ws.close()
  }
}
