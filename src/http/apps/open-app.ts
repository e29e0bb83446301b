// Chooses the HTTP server: the native one where its binary loads, else Node's own.
import type { App } from './app.js'
import { chooseServer, type HttpChoice } from './native.js'

export type { HttpChoice } from './native.js'

export interface OpenedApp {
  readonly app: App
  readonly name: 'uWebSockets.js' | 'Node http'
  /** Why this one runs, for the log. */
  readonly reason: string
  /** The native binary is not the one that was recorded, and was not loaded: worth a warning. */
  readonly changed: boolean
}

/**
 * Open the HTTP server of a choice.
 *
 * errors  rejects when `uws` is asked for and its binary is absent, does not load here, or is another one than was
 *         recorded; `auto` takes Node's `http` in each of these cases.
 */
export async function openApp(choice: HttpChoice): Promise<OpenedApp> {
  const { native, reason, changed } = chooseServer(choice)
  if (native) {
    const { UwsApp } = await import('./uws-app.js')
    return { app: new UwsApp(), name: 'uWebSockets.js', reason, changed }
  }
  if (choice === 'uws') throw new Error(`TOLLGATE_HTTP=uws: ${reason}`)
  const { NodeApp } = await import('./node-app.js')
  return { app: new NodeApp(), name: 'Node http', reason, changed }
}
