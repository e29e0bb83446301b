// What a request says of itself: headers, path, address, and the keys it offers.
import { ServiceError } from '../errors.js'
import { type AppRequest, type HeaderName, headerName } from './app.js'
import type { Route } from './route.js'

export const headerNames = {
  authorization: headerName('authorization'),
  userAgent: headerName('user-agent'),
  forwardedFor: headerName('x-forwarded-for'),
  ifNoneMatch: headerName('if-none-match'),
  contentEncoding: headerName('content-encoding'),
  contentType: headerName('content-type'),
  contentLength: headerName('content-length'),
  signedContext: headerName('x-service-signed-context'),
}

/** The first of these headers that is there; '' when none is. */
export function headerOf(req: AppRequest, names: readonly HeaderName[]): string {
  for (const name of names) {
    const value = req.getHeader(name)
    if (value !== '') return value
  }
  return ''
}

/** The key of an Authorization header, or ''. */
export function bearerOf(authorization: string): string {
  return /^bearer /i.test(authorization) ? authorization.slice(7).trim() : ''
}

/** The path's parameters as they came. */
export function parametersOf(req: AppRequest, count: number): readonly string[] {
  if (count === 1) return [req.getParameter(0)]
  return Array.from({ length: count }, (_, i) => req.getParameter(i))
}

/** Path parameters by name. A path that is no valid text names nothing: 404 (AL-32). */
export function decodeParameters(route: Route, raw: readonly string[]): Readonly<Record<string, string>> {
  const params: Record<string, string> = {}
  for (let i = 0; i < raw.length; i++) params[route.parameters[i]!] = decodeParameter(raw[i]!)
  return params
}

function decodeParameter(raw: string): string {
  if (!raw.includes('%')) return raw
  try {
    const decoded = decodeURIComponent(raw)
    if (!decoded.includes('\0')) return decoded
  } catch {
    // Told below.
  }
  throw new ServiceError('not_found')
}
