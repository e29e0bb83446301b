// Chooses the HTTP server: the native one if its binary loads, else Node's own.
import type { App } from './app.js'
import type { ConnectionOptions } from './connections.js'
import { chooseServer, type HttpChoice } from './native.js'

export type { HttpChoice } from './native.js'

export interface OpenedApp {
  readonly app: App
  readonly name: 'uWebSockets.js' | 'Node http'
  /** The reason for this server, for the log. */
  readonly reason: string
  /** The native binary differs from the recorded one and was not loaded. */
  readonly changed: boolean
}

/**
 * Open the HTTP server of a choice.
 *
 * connections  their bounds; null: none.
 * errors  with `uws`: rejects when the binary is absent, does not load, or differs from the recorded one; `auto` uses
 *         Node's `http` then.
 */
export async function openApp(
  choice: HttpChoice,
  connections: ConnectionOptions | null = null,
): Promise<OpenedApp> {
  const { native, reason, changed } = chooseServer(choice)
  if (native) {
    const { UwsApp } = await import('./uws-app.js')
    return { app: new UwsApp(connections), name: 'uWebSockets.js', reason, changed }
  }
  if (choice === 'uws') throw new Error(`TOLLGATE_HTTP=uws: ${reason}`)
  const { NodeApp } = await import('./node-app.js')
  return { app: new NodeApp(connections), name: 'Node http', reason, changed }
}
