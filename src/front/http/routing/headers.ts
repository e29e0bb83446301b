// Reads headers, path parameters, the client's address and keys from a request.
import { isIP } from 'node:net'
import { ServiceError } from '../../../errors.js'
import type { AppRequest } from '../apps/app.js'
import type { Route } from './route.js'

/** The key of an Authorization header, or ''. */
export function bearerOf(authorization: string): string {
  return /^bearer /i.test(authorization) ? authorization.slice(7).trim() : ''
}

/** Whether a Prefer header asks for the short form of an answer (RFC 7240: the first `return` counts). */
export function prefersMinimal(prefer: string): boolean {
  if (prefer === '') return false
  const [, wanted] = /(?:^|,)\s*return\s*=\s*"?([a-z]+)"?\s*(?=[,;]|$)/i.exec(prefer) ?? []
  return wanted?.toLowerCase() === 'minimal'
}

/** The attributes of a CloudEvent in binary mode: headers `ce-…`, by their names without it. */
export function cloudAttributes(req: AppRequest): Readonly<Record<string, string>> {
  const attributes: [name: string, value: string][] = []
  req.forEach((name, value) => {
    if (name.startsWith('ce-')) attributes.push([name.slice(3), value])
  })
  return Object.fromEntries(attributes)
}

/**
 * The different values of a header, joined by `, `: one value where it is sent once, or twice with the same; '' without
 * one. A header that is sent without a value is a space: uWebSockets.js gives one of bytes beyond ASCII so.
 */
export function valuesOf(req: AppRequest, header: string): string {
  const values = new Set<string>()
  let isSent = false
  req.forEach((name, value) => {
    if (name !== header) return
    isSent = true
    if (value !== '') values.add(value)
  })
  return isSent && values.size === 0 ? ' ' : [...values].join(', ')
}

/** The path parameters as sent. */
export function parametersOf(req: AppRequest, count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => req.getParameter(i))
}

/**
 * Path parameters by name. errors: query_invalid (400) for invalid UTF-8; not_found (404) for an invalid escape or
 * U+0000, which no name has (AL-32).
 */
export function decodeParameters(route: Route, raw: readonly string[]): Readonly<Record<string, string>> {
  const params: Record<string, string> = {}
  for (let i = 0; i < raw.length; i++) params[route.parameters[i]!] = decodeParameter(raw[i]!)
  return params
}

function decodeParameter(raw: string): string {
  if (notAscii.test(raw))
    throw new ServiceError('query_invalid', 'The path is not valid UTF-8, percent-encoded')
  if (!raw.includes('%')) return raw
  let decoded: string
  try {
    decoded = decodeURIComponent(raw)
  } catch {
    if (notEncoded.test(raw)) throw new ServiceError('not_found')
    throw new ServiceError('query_invalid', 'The path is not valid UTF-8, percent-encoded')
  }
  if (decoded.includes('\0')) throw new ServiceError('not_found')
  return decoded
}

const notAscii = /[^\x20-\x7e]/
const notEncoded = /%(?![0-9a-fA-F]{2})/

/**
 * The client's address as reported by proxies.
 *
 * header  X-Forwarded-For, to which each proxy appends the address it saw.
 * hops    number of trusted proxies: the address is that many entries from the right.
 * returns '' if that entry is not an address.
 */
export function forwardedAddress(header: string, hops: number): string {
  const entries = header.split(',')
  const address = entries[Math.max(0, entries.length - hops)]!.trim()
  return isIP(address) === 0 ? '' : address
}
