// Answers of a node while its start waits for a store: it lives, it is not ready, and it says what it waits for.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { live, ready } from './health.js'

/** Connections at once; each is closed with its answer. */
const connectionsMax = 64

export class WaitingServer {
  private constructor(private readonly server: Server) {}

  /**
   * Answer on the node's own address.
   *
   * waitsFor  as readiness says it: 'waiting for Postgres'.
   * errors    rejects when the address is not available.
   */
  static async listen(host: string, port: number, waitsFor: string): Promise<WaitingServer> {
    const notReady = ready({ ready: () => false, degraded: () => [waitsFor] }, false)
    const server = createServer((request, response) => {
      const { status, body } = request.url === '/health/live' ? live() : notReady
      const again = status === 503 ? { 'Retry-After': '1' } : {}
      response.writeHead(status, { 'Content-Type': 'application/json', Connection: 'close', ...again })
      response.end(request.method === 'HEAD' ? undefined : body)
    })
    server.maxConnections = connectionsMax
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, host, resolve)
    })
    return new WaitingServer(server)
  }

  /** Where it listens. */
  get port(): number {
    return (this.server.address() as AddressInfo).port
  }

  async close(): Promise<void> {
    await new Promise<void>(resolve => {
      this.server.close(() => resolve())
      this.server.closeAllConnections()
    })
  }
}
