// Chooses the HTTP server: the native one where its binary loads, else Node's own.
import type { App } from './app.js'
import { nativePlatform, nativePlatforms, nativeProblem } from './native.js'

/** `auto`: uWebSockets.js where its binary loads, else Node's `http`. */
export type HttpChoice = 'auto' | 'uws' | 'node'

export interface OpenedApp {
  readonly app: App
  readonly name: 'uWebSockets.js' | 'Node http'
  /** Why this one runs, for the log. */
  readonly reason: string
}

/**
 * Open the HTTP server of a choice.
 *
 * errors  rejects when `uws` is asked for and its binary does not load here, and, but for `node`, when the binary is
 *         there and is another one than was recorded.
 */
export async function openApp(choice: HttpChoice): Promise<OpenedApp> {
  if (choice === 'node') return nodeApp('TOLLGATE_HTTP=node asks for it')
  // another binary than the one that was looked at is not loaded, nor passed over in silence
  if (nativePlatforms.includes(nativePlatform)) {
    const problem = nativeProblem()
    if (problem !== null) throw new Error(`${problem}. Install the packages anew, or set TOLLGATE_HTTP=node.`)
  }
  try {
    const { UwsApp } = await import('./uws-app.js')
    const reason = choice === 'uws' ? 'TOLLGATE_HTTP=uws asks for it' : 'its binary loads on this platform'
    return { app: new UwsApp(), name: 'uWebSockets.js', reason }
  } catch (cause) {
    const why = `the binary of uWebSockets.js does not load on Node ${process.versions.node}: ${firstLine(cause)}`
    if (choice === 'uws') throw new Error(`TOLLGATE_HTTP=uws: ${why}`, { cause })
    return nodeApp(why)
  }
}

async function nodeApp(reason: string): Promise<OpenedApp> {
  const { NodeApp } = await import('./node-app.js')
  return { app: new NodeApp(), name: 'Node http', reason }
}

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).trim().split('\n', 1)[0]!
