// Signing in and out of the console: a key, a one-time link or sign-on is exchanged for the cookie of a session.
import { Buffer } from 'node:buffer'
import typia from 'typia'
import { keyFault } from '../../../account/conditions.js'
import { useLink } from '../../../account/member-records.js'
import type { Sessions, SignedIn } from '../../../account/sessions.js'
import { ServiceError } from '../../../errors.js'
import type { KeyRecord } from '../../../kit/call.js'
import { toFailure } from '../../../storage/failure.js'
import { allowanceOf, environmentOf, overLimit } from '../admission/admit.js'
import type { AppResponse } from '../apps/app.js'
import type { Pages } from '../request/framed-pages.js'
import { failure, internalError, type Reply } from '../request/respond.js'
import type { Shared } from '../request/shared.js'
import { forwardedAddress } from '../routing/headers.js'
import type { LimitKind } from '../routing/route.js'
import { cookieName, cookieOf, crossSiteFault } from './same-origin.js'
import type { SignOn } from './sign-on.js'

const path = '/console/session'
const bodyBytesMax = 4_096

/** Body of POST /console/session: exactly one of them. */
interface SignInBody {
  readonly key?: string
  readonly token?: string
}
const parseSignIn = typia.json.createValidateParse<SignInBody>()

/**
 * Register GET (who is signed in, and how one may), POST (sign in) and DELETE (sign out) of /console/session, and the
 * two steps of sign-on. The cookie has no Path: browsers bind it to the folder of the request, /console, also behind a
 * proxy with a prefix.
 *
 * signOn  null: not configured.
 */
export function registerSignIn(pages: Pages, shared: Shared, signOn: SignOn | null): void {
  const { config } = shared.options
  pages.on('get', path, (res, req) => {
    const work = answering(shared, res)
    const value = cookieOf(req)
    const fault = crossSiteFault(req, false, config)
    const address = addressOf(shared, res)
    work(async () => {
      if (fault) throw fault
      const { sessions } = servicesOf(shared)
      const signedIn = value === '' ? null : await paid(shared, address, async () => sessions.find(value))
      if (signedIn !== null) requireRoom(shared, callerOf(sessions, signedIn), 'read')
      return plain({ signed_in: signedIn === null ? null : shownOf(signedIn), sign_on: signOn !== null })
    })
  })
  pages.on('del', path, (res, req) => {
    const work = answering(shared, res)
    const value = cookieOf(req)
    const fault = crossSiteFault(req, true, config)
    const address = addressOf(shared, res)
    work(async () => {
      if (fault) throw fault
      const { sessions } = servicesOf(shared)
      if (value !== '') await paid(shared, address, () => sessions.end(value))
      return plain(
        { signed_in: null },
        `\r\nSet-Cookie: ${cookieName}=; Max-Age=0; HttpOnly; SameSite=Strict`,
      )
    })
  })
  pages.on('post', path, (res, req) => {
    const work = answering(shared, res)
    const fault = crossSiteFault(req, true, config)
    const secure = req.getHeader('origin').startsWith('https:')
    const address = addressOf(shared, res)
    const pieces: Buffer[] = []
    let received = 0
    res.onData((chunk, last) => {
      received += chunk.byteLength
      if (received <= bodyBytesMax) pieces.push(Buffer.from(chunk.slice(0)))
      if (!last) return
      work(async () => {
        if (fault) throw fault
        if (received > bodyBytesMax) throw new ServiceError('body_too_large')
        const value = await begun(shared, Buffer.concat(pieces).toString(), address)
        return plain(
          { signed_in: shownOf((await servicesOf(shared).sessions.find(value))!) },
          setCookie(value, secure),
        )
      })
    })
  })
  if (signOn !== null) registerSignOn(pages, shared, signOn)
}

function registerSignOn(pages: Pages, shared: Shared, signOn: SignOn): void {
  pages.on('get', '/console/sign-on', res => {
    const work = answering(shared, res)
    work(async () => {
      servicesOf(shared)
      const { url, cookie } = await signOn.begin()
      return redirect(url, `\r\nSet-Cookie: ${cookie}`)
    })
  })
  pages.on('get', '/console/sign-on-done', (res, req) => {
    const work = answering(shared, res)
    const query = req.getQuery() ?? ''
    const kept = cookieOf(req, signOn.cookieName)
    const address = addressOf(shared, res)
    work(async () => {
      const services = servicesOf(shared)
      try {
        shared.unauthenticated.take(address, performance.now())
        const who = await signOn.end(query, kept, services)
        shared.unauthenticated.giveBack(address, performance.now())
        const value = await services.sessions.begin(who)
        const cookies = `${setCookie(value, signOn.isSecure)}\r\nSet-Cookie: ${signOn.forget}`
        return redirect('./', cookies)
      } catch (error) {
        // a person reads it: back to the page, with the reason
        const known = toFailure(error)
        if (!(known instanceof ServiceError)) throw error
        const cookies = `\r\nSet-Cookie: ${signOn.refusal(known.message)}\r\nSet-Cookie: ${signOn.forget}`
        return redirect('./#/sign-in', cookies)
      }
    })
  })
}

/** Check a key or use a link, and begin a session. errors: 400 unless exactly one is given; 401, or 429 after many. */
async function begun(shared: Shared, text: string, address: string): Promise<string> {
  const services = servicesOf(shared)
  const body = parsed(text)
  const nowMs = performance.now()
  shared.unauthenticated.take(address, nowMs)
  const who = body.key === undefined ? await byLink(body.token!) : await byKey(body.key)
  if (who === null) throw shared.unauthenticated.failed(address, '', nowMs, true)
  shared.unauthenticated.giveBack(address, nowMs)
  if ('key' in who) requireRoom(shared, who.key, 'mutation')
  return services.sessions.begin(who)

  async function byLink(token: string) {
    const who = await useLink(services.sql, services.keys, token, services.clock.wall())
    if (who === null)
      throw new ServiceError('key_unknown', 'This link was used already, or is over: ask for another')
    return who
  }
  async function byKey(pasted: string) {
    const secret = pasted.trim()
    const key = await services.keys.find(secret)
    if (key === null) return null
    if (key.kind !== 'secret')
      throw new ServiceError('key_unknown', 'A publishable key opens no console: paste a secret key')
    const fault =
      key.conditions == null ? null : keyFault(key.conditions, services.clock.wall(), () => address)
    if (fault !== null) throw new ServiceError('key_unknown', fault)
    return { key, secret }
  }
}

function parsed(text: string): SignInBody {
  const result = parseSignIn(text)
  if (!result.success || (result.data.key === undefined) === (result.data.token === undefined))
    throw new ServiceError('body_invalid', 'Expected {"key": …} or {"token": …}')
  return result.data
}

/**
 * Look something up for a caller who may be nobody: it costs a token of the address, which comes back when something is found.
 *
 * errors  rate_limited (429).
 */
async function paid<T>(shared: Shared, address: string, look: () => Promise<T>): Promise<T> {
  const { unauthenticated } = shared
  unauthenticated.take(address, performance.now())
  const found = await look()
  if (found) unauthenticated.giveBack(address, performance.now())
  return found
}

/** The caller that a session acts for, to be charged. */
function callerOf(sessions: Sessions, signedIn: SignedIn): KeyRecord | null {
  const { member } = signedIn
  return member === null ? sessions.keyOf(signedIn) : sessions.recordOf(signedIn, member, 'viewer', '')
}

/**
 * Take one request from the budgets of a known caller.
 *
 * errors  rate_limited (429).
 * source  AL-40, AL-43
 */
function requireRoom(shared: Shared, caller: KeyRecord | null, kind: LimitKind): void {
  if (caller === null) return
  const environment = environmentOf(caller, '', servicesOf(shared).keys)
  const { limits } = shared.options
  const allowance = allowanceOf({ limit: kind }, caller, environment, limits, performance.now())
  if (allowance?.refused != null) throw overLimit(allowance)
}

function shownOf({ member, keyId, expiresAtMs }: SignedIn): object {
  return {
    name: member?.name ?? null,
    email: member?.email ?? null,
    member_id: member?.id ?? null,
    api_key_id: keyId,
    expires_at: new Date(expiresAtMs).toISOString(),
  }
}

function setCookie(value: string, secure: boolean): string {
  return `\r\nSet-Cookie: ${cookieName}=${value}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
}

function servicesOf(shared: Shared) {
  const { services, draining } = shared
  if (services === null || draining || !shared.mayAnswer()) throw new ServiceError('starting')
  return services
}

function addressOf(shared: Shared, res: AppResponse): string {
  const { app, options, head } = shared
  const hops = options.config.trustProxy
  const forwarded = hops > 0 && head.forwardedFor !== '' ? forwardedAddress(head.forwardedFor, hops) : ''
  return forwarded === '' ? app.addressOf(res) : forwarded
}

const plain = (data: unknown, headers = ''): Reply => ({
  status: 200,
  headers,
  body: JSON.stringify({ data, params: {} }),
})

const redirect = (to: string, headers: string): Reply => ({
  status: 302,
  headers: `${headers}\r\nLocation: ${to.replaceAll(/[\r\n]/g, '')}`,
  body: '{}',
})

/** Answer with the outcome of a promise, unless the peer has left. */
function answering(shared: Shared, res: AppResponse): (work: () => Promise<Reply>) => void {
  let gone = false
  res.onAborted(() => {
    gone = true
  })
  return work => {
    shared.inFlight++
    work()
      .catch(error => {
        const known = toFailure(error)
        if (!(known instanceof ServiceError)) shared.log.error({ err: error }, 'sign-in failed')
        return failure(known instanceof ServiceError ? known : internalError, '')
      })
      .then(reply => {
        if (!gone) res.cork(() => shared.write(res, reply, false))
      })
      .finally(() => shared.left())
  }
}
