// Admission of a request of the console: the same operations as with a key, opened by the cookie of a session.

import type { SignedIn } from '../../../account/sessions.js'
import { accountFault, changesAccount } from '../../../core/console-role.js'
import { ServiceError } from '../../../errors.js'
import type { KeyRecord } from '../../../kit/call.js'
import type { AppRequest } from '../apps/app.js'
import { AdmitStage, type Next } from '../request/admit.js'
import { plainStages, type Stages } from '../request/stages.js'
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

/** The caller of one request with a session instead of a key. */
class ConsoleAdmit extends AdmitStage {
  private fault: ServiceError | null = null

  override secretOf(req: AppRequest): string {
    const { compiled, shared } = this.incoming
    this.fault = crossSiteFault(req, compiled.route.method !== 'get', shared.options.config)
    return cookieOf(req)
  }

  override unknown(secret: string, paid = false): ServiceError {
    const error = super.unknown(secret, paid)
    if (error.status !== 401) return error
    return new ServiceError('key_unknown', 'Nobody is signed in, or the session has ended: sign in')
  }

  override find(next: Next): void {
    if (this.fault !== null) throw this.fault
    const { shared, secret } = this.incoming
    const found = shared.services!.sessions.find(secret, this)
    if (found instanceof Promise) this.reply.after(found, signedIn => this.enterAs(signedIn, next))
    else this.enterAs(found, next)
  }

  private enterAs(signedIn: SignedIn | null, next: Next): void {
    this.enter(signedIn === null ? null : this.recordOf(signedIn), next)
  }

  private recordOf(signedIn: SignedIn): KeyRecord | null {
    const { shared, compiled, environmentId } = this.incoming
    const { sessions } = shared.services!
    const { member } = signedIn
    if (member === null) return sessions.keyOf(signedIn)
    const { route } = compiled
    const role = sessions.roleFor(member, signedIn.accountId, environmentId, route.changesAccount)
    if (route.changesAccount && !changesAccount(role)) throw new ServiceError('forbidden', accountFault)
    if (role === null) throw new ServiceError('forbidden', 'No role here')
    if (role === 'support' && route.mutates && !ofSupport.test(route.path))
      throw new ServiceError('forbidden', 'Role support changes overrides and grants of credits alone')
    return sessions.recordOf(signedIn, member, role, environmentId)
  }
}

export const consoleStages: Stages = { ...plainStages, Admit: ConsoleAdmit }
