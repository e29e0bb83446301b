// The data stream for the console: opened by the cookie of a session, from a page of this address.

import type { SignedIn } from '../../../account/sessions.js'
import { ServiceError } from '../../../errors.js'
import type { KeyRecord } from '../../../kit/call.js'
import type { AppRequest, AppResponse, SocketListener } from '../apps/app.js'
import { Datastream } from '../stream/datastream.js'
import { cookieOf, isOwnOrigin } from './same-origin.js'

export const consoleStreamPath = '/console/datastream'

/** As the data stream, with a session in place of a key. */
export class ConsoleStream extends Datastream {
  /** Cookies whose sessions have ended. */
  private readonly ended = new Set<string>()

  override upgrade(
    res: AppResponse,
    req: AppRequest,
    accept: (listener: SocketListener, protocol: string) => void,
  ): void {
    const isOwn = isOwnOrigin(req, this.shared.options.config)
    // browsers send cookies with the handshake of any page: only pages of this address may open it
    if (!isOwn) this.foreign = true
    try {
      super.upgrade(res, req, accept)
    } finally {
      this.foreign = false
    }
  }

  /** The handshake being read comes from another page. */
  private foreign = false

  protected override secretOf(req: AppRequest): string {
    if (this.foreign) throw new ServiceError('forbidden', 'Origin: the console alone opens this stream')
    return cookieOf(req)
  }

  protected override find(
    cookie: string,
    environmentId: string,
  ): KeyRecord | null | Promise<KeyRecord | null> {
    const found = this.shared.services!.sessions.find(cookie)
    return found instanceof Promise
      ? found.then(signedIn => this.recordOf(signedIn, environmentId))
      : this.recordOf(found, environmentId)
  }

  private recordOf(signedIn: SignedIn | null, environmentId: string): KeyRecord | null {
    if (signedIn === null) return null
    const { sessions } = this.shared.services!
    const { member, accountId } = signedIn
    if (member === null) return sessions.keyOf(signedIn)
    const role = sessions.roleFor(member, accountId, environmentId, false)
    return role === null ? null : sessions.recordOf(signedIn, member, role, environmentId)
  }

  override mayStay(_key: KeyRecord, _address: string, cookie: string): boolean {
    if (this.ended.delete(cookie)) return false
    const found = this.shared.services?.sessions.find(cookie)
    if (!(found instanceof Promise)) return found !== null
    found.then(
      signedIn => {
        if (signedIn === null) this.ended.add(cookie)
      },
      () => {}, // Postgres is away: the connection stays until it is known
    )
    return true
  }
}
