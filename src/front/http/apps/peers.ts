// Remote addresses of connections. Reading one costs a tenth of a request. Behind a proxy, or with a single caller,
// all connections have the same address, which is then returned from memory.
import type { HttpResponse, TemplatedApp } from 'uWebSockets.js'

/** The addresses of an app's connections. */
export class Peers {
  private connected = 0
  /** The address of all connections; null if they may differ. */
  private only: string | null = null

  constructor(app: TemplatedApp) {
    const changed = (res: HttpResponse, change: number): void => {
      if (change > 0) this.came(addressOf(res))
      else this.connected--
    }
    app.filter(changed as (res: HttpResponse, change: unknown) => void)
  }

  /** The peer's address of a response that has not ended. */
  addressOf(res: HttpResponse): string {
    return this.only ?? addressOf(res)
  }

  // A closed connection does not reveal its address: after a second address appears, all must close first.
  private came(address: string): void {
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
