// How a port is listened on.
import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js'

// One process per port: a second one is refused instead of quietly taking half of the connections.
const exclusivePort = 1

/** Listen; rejects when the address cannot be had. */
export function listenOn(app: TemplatedApp, host: string, port: number): Promise<us_listen_socket> {
  return new Promise((resolve, reject) => {
    const listening = (socket: us_listen_socket | false) => {
      if (socket) resolve(socket)
      else reject(new Error(`Cannot listen on ${host}:${port}: is it in use?`))
    }
    // The declared types lack this form of `listen`.
    const listen = app.listen as unknown as (
      host: string,
      port: number,
      options: number,
      done: typeof listening,
    ) => void
    listen.call(app, host, port, exclusivePort, listening)
  })
}
