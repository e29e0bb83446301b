// A proxy in front of a node's address for other nodes, or of a store. The connection from a node can be cut: no more
// bytes pass in either direction, and neither side is closed.
import { connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'

interface Way {
  /** The node that connected; '' until its hello. */
  name: string
  readonly ends: readonly [Socket, Socket]
}

export class LinkProxy {
  private readonly ways = new Set<Way>()
  private readonly cut = new Set<string>()

  /** Number of connections that came and went. */
  gone = 0

  private constructor(readonly port: number) {}

  static async start(t: Test, to: number): Promise<LinkProxy> {
    let proxy: LinkProxy
    const server = createServer(asks => proxy.join(asks, connect(to, '127.0.0.1')))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    proxy = new LinkProxy((server.address() as { port: number }).port)
    t.teardown(() => {
      server.close()
      for (const { ends } of proxy.ways) for (const end of ends) end.destroy()
    })
    return proxy
  }

  /** Pass nothing from and to this node; '': clients of a store, which say no name. */
  silence(name: string): void {
    this.cut.add(name)
  }

  /** Accept new connections again. The cut ones are closed. */
  heal(): void {
    for (const { name, ends } of this.ways) if (this.cut.has(name)) for (const end of ends) end.destroy()
    this.cut.clear()
  }

  private join(asks: Socket, serves: Socket): void {
    const way: Way = { name: '', ends: [asks, serves] }
    this.ways.add(way)
    const pass = (from: Socket, to: Socket): void => {
      from.on('data', (piece: Buffer) => {
        if (way.name === '' && from === asks)
          way.name = /"node":"([^"~]*)/.exec(piece.toString('latin1'))?.[1] ?? ''
        if (!this.cut.has(way.name)) to.write(piece)
      })
      from.on('error', () => {})
      from.on('close', () => {
        this.ways.delete(way)
        if (!this.cut.has(way.name)) to.destroy()
      })
    }
    asks.on('close', () => this.gone++)
    pass(asks, serves)
    pass(serves, asks)
  }
}
