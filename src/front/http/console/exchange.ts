// A request of the console: the same operations as with a key, opened by the cookie of a session.

import type { SignedIn } from '../../../account/sessions.js'
import { ServiceError } from '../../../errors.js'
import type { KeyRecord } from '../../../kit/call.js'
import type { AppRequest } from '../apps/app.js'
import { Exchange } from '../request/exchange.js'
import type { Route } from '../routing/route.js'
import { cookieOf, crossSiteFault } from './same-origin.js'

/** Where the operations are for the console. */
export const consoleApi = '/console/api'

/** Whether the console's cookie opens a route: never ingest, nor checks, which count (source: console, signing in). */
export const isOfConsole = ({ scope, limit, ofrep }: Route): boolean =>
  scope !== 'capture' &&
  scope !== 'portal' &&
  limit !== 'ingest' &&
  !ofrep &&
  (scope !== 'check' || limit === 'read')

/** Changes that role support may make: overrides, and grants of credits. */
const ofSupport = /^\/(company-overrides(\/|$)|billing\/credits\/grants\/(company$|:grant_id\/zero-out$))/

/** One request with a session instead of a key. */
export class ConsoleExchange extends Exchange {
  private cookie = ''
  private fault: ServiceError | null = null

  override begin(req: AppRequest, headOnly: boolean): void {
    this.cookie = cookieOf(req)
    const { method } = this.compiled.route
    this.fault = crossSiteFault(req, method !== 'get', this.shared.options.config)
    super.begin(req, headOnly)
  }

  protected override secretOf(): string {
    return this.cookie
  }

  protected override unknown(secret: string, paid = false): ServiceError {
    const error = super.unknown(secret, paid)
    if (error.status !== 401) return error
    return new ServiceError('key_unknown', 'Nobody is signed in, or the session has ended: sign in')
  }

  protected override find(secret: string): void {
    if (this.fault !== null) throw this.fault
    const { sessions } = this.shared.services!
    const found = sessions.find(secret)
    if (found instanceof Promise) this.resume(found, signedIn => this.enterAs(signedIn))
    else this.enterAs(found)
  }

  private enterAs(signedIn: SignedIn | null): void {
    this.enter(signedIn === null ? null : this.recordOf(signedIn))
  }

  private recordOf(signedIn: SignedIn): KeyRecord | null {
    const { sessions } = this.shared.services!
    const { member } = signedIn
    if (member === null) return sessions.keyOf(signedIn)
    const { route } = this.compiled
    const changesAll = route.mutates && !route.environmentRequired
    const ofAccount = changesAll && (route.scope !== 'admin' || route.ofAccount)
    const role = sessions.roleFor(member, signedIn.accountId, this.environmentId, ofAccount)
    if (role === null)
      throw new ServiceError(
        'forbidden',
        ofAccount ? 'This changes the whole account: it needs a role in every environment' : 'No role here',
      )
    if (role === 'support' && route.mutates && !ofSupport.test(route.path))
      throw new ServiceError('forbidden', 'Role support changes overrides and grants of credits alone')
    return sessions.recordOf(signedIn, member, role, this.environmentId)
  }
}
