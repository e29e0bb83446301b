// The HTTP contract kept by uWebSockets.js: the native server's own objects, handed over as they are.
import type { HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js'
import { prepareNative } from '../../config.js'
import type { App, AppHandler, AppMethod, AppResponse } from './app.js'
import { Peers } from './peers.js'

prepareNative()
// Loaded after its settings are in place, hence not a static import.
const { default: uWS } = await import('uWebSockets.js')

// One process per port: a second one is refused instead of quietly taking half of the connections.
const exclusivePort = 1

/** A server of uWebSockets.js. Importing this file fails where its binary does not load. */
export class UwsApp implements App {
  private readonly app: TemplatedApp = uWS.App()
  private readonly peers = new Peers(this.app)
  private socket: us_listen_socket | null = null

  on(method: AppMethod, path: string, handler: AppHandler): void {
    this.app[method](path, handler as Parameters<TemplatedApp['get']>[1])
  }

  addressOf(res: AppResponse): string {
    return this.peers.addressOf(res as unknown as HttpResponse)
  }

  async listen(host: string, port: number): Promise<number> {
    this.socket = await this.bind(host, port)
    return uWS.us_socket_local_port(this.socket)
  }

  stopListening(): void {
    if (this.socket !== null) uWS.us_listen_socket_close(this.socket)
    this.socket = null
  }

  close(): void {
    this.app.close()
  }

  private bind(host: string, port: number): Promise<us_listen_socket> {
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
      listen.call(this.app, host, port, exclusivePort, listening)
    })
  }
}
