// Redacts bodies and URLs for the audit log: compact, bounded, and without secrets, by name and by shape.
import { jsonText, parseExactly } from '../../json.js'

/** Longest kept text, bytes. */
export const keptBytesMax = 16_384
/** Longer texts within a body are cut, so that one text does not displace the rest. */
const textCharactersMax = 1_024
const shortCharactersMax = 64

const depthMax = 32
const mask = '***'

/** Names of secrets, without case and separators. */
const secretName =
  /secret|passw|passphrase|credential|authorization|bearer|cookie|pepper|api_?key|(private|access|signing|encryption|service|master)key|token$|^(pwd|pin|otp|auth|pass)$/

/** Names judged before, most of them members of our own answers. Callers make names too: at most so many are kept. */
const judgedNames = new Map<string, boolean>()
const judgedNamesMax = 4_096

/** Whether a member's name means a secret, in any spelling: apiKey, secret_key, PRIVATE-KEY. */
function isSecretName(name: string): boolean {
  const judged = judgedNames.get(name)
  if (judged !== undefined) return judged
  const isSecret = secretName.test(name.toLowerCase().replaceAll(/[^a-z0-9]/g, ''))
  if (judgedNames.size >= judgedNamesMax) judgedNames.clear()
  if (name.length <= shortCharactersMax) judgedNames.set(name, isSecret)
  return isSecret
}

/** Our own keys, tokens and links, bearer tokens, signed tokens, private keys; and what a text without any of that kind lacks. */
const shapes: readonly (readonly [hint: RegExp | string, shape: RegExp])[] = [
  ['_', /(?<![A-Za-z0-9_-])(?:sk|pk|whsec|wsec|rk)_[A-Za-z0-9_-]{8,}/g],
  ['_', /(?<![A-Za-z0-9_-])(?:s|l|tat|ctx)_[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])/g],
  [/\s/, /(?<![A-Za-z0-9])(?:bearer|basic)\s{1,4}[A-Za-z0-9+/._~=-]{8,}/gi],
  ['eyJ', /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?/g],
  ['-----BEGIN', /-----BEGIN [A-Z ]+-----[\s\S]*?(?:-----END [A-Z ]+-----|$)/g],
]
/** No shape, address or run is shorter. */
const secretCharactersMin = 8
const runCharactersMin = 20

/** Strings of characters that occur in keys. */
const run = /[A-Za-z0-9+_=-]{20,}/g
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const url = /\bhttps?:\/\/[^\s"'<>]+/gi

/** Whether a string looks random: mixed character classes, few repetitions. */
function looksDrawn(text: string): boolean {
  if (uuid.test(text)) return false
  const isHex = text.length >= 32 && /^[0-9a-f]+$/i.test(text) && /\d/.test(text) && /[a-f]/i.test(text)
  const isMixed = /[a-z]/.test(text) && /[A-Z]/.test(text) && /\d/.test(text)
  const digits = text.match(/\d/g)?.length ?? 0
  const isLower = text.length >= 24 && digits >= 4 && /^(?:[a-z0-9]+|[A-Z0-9]+)$/.test(text)
  if (!isHex && !isMixed && !isLower) return false
  return new Set(text).size >= Math.min(10, text.length / 2)
}

/** A text with likely secrets replaced. */
export function redactText(text: string): string {
  if (text.length < secretCharactersMin) return text
  let clean = text
  for (const [hint, shape] of shapes)
    if (typeof hint === 'string' ? clean.includes(hint) : hint.test(clean))
      clean = clean.replaceAll(shape, mask)
  if (clean.includes('://')) clean = clean.replaceAll(url, redactUrl)
  if (clean.length < runCharactersMin) return clean
  return clean.replaceAll(run, found => (looksDrawn(found) ? mask : found))
}

/** A URL without user, query values, and path segments that look like secrets. */
function redactUrl(text: string): string {
  const [, scheme, authority = '', path = '', query] =
    /^(https?:\/\/)([^/?#]*)([^?#]*)(?:[?#](.*))?$/i.exec(text) ?? []
  if (scheme === undefined) return text
  const host = authority.includes('@')
    ? `${mask}@${authority.slice(authority.lastIndexOf('@') + 1)}`
    : authority
  const parts = path.split('/').map(part => (isSecretPart(part) ? mask : part))
  const names = query
    ?.split('&')
    .map(pair => (pair.includes('=') ? `${pair.split('=', 1)[0]}=${mask}` : mask))
  return scheme + host + parts.join('/') + (names === undefined ? '' : `?${names.join('&')}`)
}

const isSecretPart = (part: string): boolean =>
  part.length >= 16 && !uuid.test(part) && /\d/.test(part) && /[A-Za-z]/.test(part)

/** A path and query, without values of secret names or shapes, also in the path. */
export function redactQuery(target: string): string {
  const [sent = '', query] = target.split('?', 2)
  const path = sent.split('/').map(redactPart).join('/')
  if (query === undefined) return path
  const pairs = query.split('&').map(pair => {
    const [name = '', value] = pair.split('=', 2)
    if (value === undefined) return pair
    return `${name}=${isSecretName(decoded(name)) ? mask : redactPart(value)}`
  })
  return `${path}?${pairs.join('&')}`
}

/** A part of a path, or a value of a query, percent-encoded as it was sent: without secrets, encoded ones too. */
export const redactPart = (part: string): string => (isHidden(part) ? mask : redactText(part))

/** A part of a query as it is read. Secrets and their names are ASCII; what is no escape stays. */
function decoded(part: string): string {
  return part
    .replaceAll('+', ' ')
    .replaceAll(/%[0-9a-f]{2}/gi, escaped => String.fromCharCode(Number.parseInt(escaped.slice(1), 16)))
}

/** Whether only the decoded value shows that it is a secret. */
function isHidden(value: string): boolean {
  const plain = decoded(value)
  return plain !== value && redactText(plain) !== plain
}

// For texts that are not JSON: finds members as they would be written in JSON.
const member = /"([A-Za-z_-]{2,64})"(\s*:\s*)(?:"(?:[^"\\]|\\.)*(?:"|$)|[^\s",}\]]+)/g

/**
 * A body as it is kept: compact JSON, so that blanks cannot push anything out; long texts in it cut; secrets replaced.
 * A body that is not JSON is kept as text.
 *
 * parsed   the parsed body, if it is parsed already; undefined: it is no JSON.
 * bytesMax most bytes that are kept.
 * returns  at most `bytesMax` bytes: the beginning of a longer body.
 */
export function redactBody(
  body: string,
  parsed: unknown = parsedOrNot(body),
  bytesMax = keptBytesMax,
): string {
  if (parsed === undefined) return storable(redactLoose(body.slice(0, 2 * bytesMax)), bytesMax)
  const texts = new Map<string, string>()
  const cleaner = new Cleaner(textCharactersMax, texts)
  const whole = jsonText(cleaner.clean(parsed, 0))
  // where no text is long, cutting texts shorter leaves the body as it is
  if (!cleaner.metLong || Buffer.byteLength(whole) <= bytesMax) return storable(whole, bytesMax)
  return storable(jsonText(new Cleaner(shortCharactersMax, texts).clean(parsed, 0)), bytesMax)
}

/** The parsed body; undefined if it is not JSON. */
export function parsedOrNot(body: string): unknown {
  try {
    return parseExactly(body)
  } catch {
    return undefined
  }
}

function redactLoose(text: string): string {
  const compact = text.replaceAll(/\s+/g, ' ')
  return redactText(
    compact.replaceAll(member, (all, name: string, between: string) =>
      isSecretName(name) ? `"${name}"${between}"${mask}"` : all,
    ),
  )
}

/** Redacts a JSON value. It stops when the kept size is reached. */
class Cleaner {
  private charactersLeft = 2 * keptBytesMax
  /** A long text or name was found. */
  metLong = false

  /** texts  short texts of this body that were cleaned before: ids and times come again and again. */
  constructor(
    private readonly textMax: number,
    private readonly texts: Map<string, string>,
  ) {}

  clean(value: unknown, depth: number): unknown {
    if (this.charactersLeft <= 0 || depth > depthMax) return '…'
    if (typeof value === 'string') return this.text(value)
    this.charactersLeft -= 4
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return this.list(value, depth)
    return this.members(value, depth)
  }

  private list(values: readonly unknown[], depth: number): readonly unknown[] {
    const kept: unknown[] = []
    for (const value of values) {
      kept.push(this.clean(value, depth + 1))
      if (this.charactersLeft <= 0) break
    }
    return kept
  }

  private members(value: object, depth: number): object {
    const kept: Record<string, unknown> = {}
    const given = value as Readonly<Record<string, unknown>>
    // parsed JSON has no inherited members
    for (const name in given) {
      const one = given[name]
      this.charactersLeft -= name.length
      const isSecret = one !== null && typeof one !== 'boolean' && isSecretName(name)
      const clean = isSecret ? mask : this.clean(one, depth + 1)
      if (name.length > shortCharactersMax || name === '__proto__') this.unusual(kept, name, clean)
      else kept[name] = clean
      if (this.charactersLeft <= 0) break
    }
    return kept
  }

  private unusual(kept: object, name: string, value: unknown): void {
    this.metLong ||= name.length > shortCharactersMax
    const own = { value, enumerable: true, configurable: true, writable: true }
    Object.defineProperty(kept, name.slice(0, this.textMax), own)
  }

  private text(value: string): string {
    this.metLong ||= value.length > shortCharactersMax
    const text =
      value.length <= shortCharactersMax ? this.short(value) : redactText(value.slice(0, 2 * this.textMax))
    const kept =
      value.length <= this.textMax ? text : `${text.slice(0, this.textMax)}… (${value.length} characters)`
    this.charactersLeft -= kept.length
    return kept
  }

  private short(value: string): string {
    const known = this.texts.get(value)
    if (known !== undefined) return known
    const text = redactText(value)
    this.texts.set(value, text)
    return text
  }
}

/** A text cut to a number of bytes, without U+0000 and partial characters, which Postgres cannot store. */
export function storable(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text.replaceAll('\0', ''))
  return bytes.length <= bytesMax ? bytes.toString() : `${bytes.subarray(0, bytesMax - 8).toString()}…`
}
