// The data stream for the console: opened by the cookie of a session, from a page of this address.

import type { SignedIn } from '../../../account/sessions.js'
import { ServiceError } from '../../../errors.js'
import type { KeyRecord } from '../../../kit/call.js'
import type { KeyAsker } from '../../../kit/services.js'
import type { AppRequest, AppResponse, SocketListener } from '../apps/app.js'
import { Datastream, type Opened } from '../stream/datastream.js'
import { cookieOf, isOwnOrigin } from './same-origin.js'

export const consoleStreamPath = '/console/datastream'

/** As the data stream, with a session in place of a key. */
export class ConsoleStream extends Datastream {
  /** Environments with cookies that do not open them any more. */
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
    asker?: KeyAsker,
  ): KeyRecord | null | Promise<KeyRecord | null> {
    const found = this.shared.services!.sessions.find(cookie, asker)
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

  /** As long as the session holds, and opens the environment: its member has a role there, its key is not disabled. */
  override mayStay({ address, secret: cookie, environmentId }: Opened): boolean {
    const { services } = this.shared
    if (services === null) return true
    const name = `${environmentId} ${cookie}`
    if (this.ended.delete(name)) return false
    const opens = (signedIn: SignedIn | null): boolean => {
      const record = this.recordOf(signedIn, environmentId)
      if (record === null) return false
      return signedIn!.member !== null || this.opens(record, address)
    }
    const found = services.sessions.find(cookie)
    if (!(found instanceof Promise)) return opens(found)
    found.then(
      signedIn => {
        if (!opens(signedIn)) this.ended.add(name)
      },
      () => {}, // Postgres is away: the connection stays until it is known
    )
    return true
  }
}
