// Where requests come from. Asking the system costs a tenth of a request; behind a proxy, or with one caller, everybody
// who is connected has the same address, and it is known without asking.
import type { HttpResponse, TemplatedApp } from 'uWebSockets.js'
import { addressOf } from './read.js'

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
