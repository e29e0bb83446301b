// Remote addresses of connections, and their bounds. Reading an address costs a tenth of a request. Behind a proxy, or with a
// single caller, all connections have the same address, which is then returned from memory.
import type { HttpResponse, TemplatedApp } from 'uWebSockets.js'
import type { Connections } from './connections.js'

/** The addresses of an app's connections. */
export class Peers {
  private connected = 0
  /** The address of all connections; null if they may differ. */
  private only: string | null = null

  /** One beyond a bound is being closed: its end is told before `close` returns. */
  private refusing = false

  /** connections: their bounds; null: none. */
  constructor(
    app: TemplatedApp,
    private readonly connections: Connections | null,
  ) {
    const changed = (res: HttpResponse, change: number): void => {
      if (change > 0) this.came(res)
      else if (!this.refusing) this.left()
    }
    app.filter(changed as (res: HttpResponse, change: unknown) => void)
  }

  /** The peer's address of a response that has not ended. */
  addressOf(res: HttpResponse): string {
    return this.only ?? addressOf(res)
  }

  /** A connection has closed. The server does not tell it of WebSockets. */
  left(): void {
    this.connected--
    this.connections?.left(null)
  }

  // A closed connection does not reveal its address: after a second address appears, all must close first.
  private came(res: HttpResponse): void {
    const address = addressOf(res)
    if (this.connections?.came(address) === false) {
      this.refusing = true
      res.close()
      this.refusing = false
      return
    }
    if (this.connected === 0) this.only = address
    else if (address !== this.only) this.only = null
    this.connected++
  }
}

/** The peer's address. IPv4 over an IPv6 socket is written as IPv4. */
function addressOf(res: HttpResponse): string {
  const bytes = new Uint8Array(res.getRemoteAddress())
  const at = bytes.length - 4
  if (at === 0 || (at === 12 && isMapped(bytes)))
    return `${bytes[at]}.${bytes[at + 1]}.${bytes[at + 2]}.${bytes[at + 3]}`
  return Buffer.from(res.getRemoteAddressAsText()).toString()
}

function isMapped(bytes: Uint8Array): boolean {
  return bytes[10] === 0xff && bytes[11] === 0xff && bytes.subarray(0, 10).every(b => b === 0)
}
