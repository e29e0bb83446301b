// Checks of a request with the console's cookie: it comes from a page of this very address (docs/console).
import { ServiceError } from '../../../errors.js'
import type { AppRequest } from '../apps/app.js'

export const cookieName = 'tollgate_console'

/** Value of a cookie, or ''. The first counts where two have one name. */
export function cookieOf(req: AppRequest, name = cookieName): string {
  for (const part of req.getHeader('cookie').split(';')) {
    const at = part.indexOf('=')
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim()
  }
  return ''
}

/** The addresses that pages of the console may have, besides the one a request names in Host. */
interface OwnOrigins {
  /** TOLLGATE_PUBLIC_URL. */
  readonly publicUrl: string | null
  /** Proxies in front are trusted to say in X-Forwarded-Host which host was asked for. */
  readonly trustProxy: number
}

/**
 * Why a request may not use the cookie, or null.
 *
 * changes  it is no GET and no HEAD: then Sec-Fetch-Site must be `same-origin` and Origin must be this address.
 * source   security 40; a read from another site is refused too, where the browser says so.
 */
export function crossSiteFault(req: AppRequest, changes: boolean, own: OwnOrigins): ServiceError | null {
  const site = req.getHeader('sec-fetch-site')
  if (!changes)
    return site === 'cross-site' || site === 'same-site'
      ? new ServiceError('forbidden', 'The console is not read from other sites')
      : null
  if (site !== 'same-origin')
    return new ServiceError('forbidden', 'Sec-Fetch-Site: changes with a session come from the console alone')
  return isOwnOrigin(req, own)
    ? null
    : new ServiceError('forbidden', 'Origin: changes with a session come from the console alone')
}

/** Whether Origin is the address that was asked for. */
export function isOwnOrigin(req: AppRequest, { publicUrl, trustProxy }: OwnOrigins): boolean {
  const origin = req.getHeader('origin')
  if (!URL.canParse(origin)) return false
  if (publicUrl !== null) return new URL(publicUrl).origin === origin
  const { host } = new URL(origin)
  if (host === req.getHeader('host')) return true
  return trustProxy > 0 && host === req.getHeader('x-forwarded-host')
}
