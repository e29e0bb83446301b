// Where requests come from. Asking the system costs a tenth of a request; behind a proxy, or with one caller, everybody
// who is connected has the same address, and it is known without asking.
import type { HttpResponse, TemplatedApp } from 'uWebSockets.js'

/** The addresses of an app's connections. */
export class Peers {
  private connected = 0
  /** Of everybody who is connected; null while some may have another. */
  private only: string | null = null

  constructor(app: TemplatedApp) {
    const changed = (res: HttpResponse, change: number): void => {
      if (change > 0) this.came(addressOf(res))
      else this.connected--
    }
    app.filter(changed as (res: HttpResponse, change: unknown) => void)
  }

  /** The address of the peer of a response that is still there. */
  addressOf(res: HttpResponse): string {
    return this.only ?? addressOf(res)
  }

  // Who leaves does not say who it was: after a second address has been seen, all have to leave first.
  private came(address: string): void {
    if (this.connected === 0) this.only = address
    else if (address !== this.only) this.only = null
    this.connected++
  }
}

/** The peer's address. One of IPv4 that arrived over an IPv6 socket is written as IPv4. */
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
