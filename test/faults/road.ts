// A way to a store that can be cut: connections over it end, and new ones are refused, until it is mended.
import { connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'

/** Where a server listens: on a port, or at the path of a unix socket. */
export type Target = { readonly host: string; readonly port: number } | { readonly path: string }

export interface Road {
  /** The port of 127.0.0.1 that leads there. */
  readonly port: number
  cut(): void
  mend(): void
}

/** heard  told what a client sends, in order; returns false to cut this connection instead of passing it on. */
export async function road(t: Test, target: Target, heard?: (bytes: Buffer) => boolean): Promise<Road> {
  const open = new Set<Socket>()
  let isCut = false
  const server = createServer(incoming => {
    if (isCut) return void incoming.destroy()
    const outgoing = connect(target)
    for (const [one, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      open.add(one)
      one.on('error', () => {})
      one.on('close', () => {
        open.delete(one)
        other.destroy()
      })
    }
    outgoing.pipe(incoming)
    if (heard === undefined) incoming.pipe(outgoing)
    else incoming.on('data', bytes => (heard(bytes) ? outgoing.write(bytes) : incoming.resetAndDestroy()))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return {
    port: (server.address() as { port: number }).port,
    cut(): void {
      isCut = true
      for (const socket of open) socket.destroy()
    },
    mend(): void {
      isCut = false
    },
  }
}
