// The options of a client, checked once: what is missing or wrong is said at its construction.
import { TollgateError } from './errors.js'
import { Http, type KeySource } from './http.js'
import type { ClientOptions } from './options.js'

const wrong = (line: string) => new TollgateError(0, line, 'options_invalid')

/** The way to the service. Offline there is none: every request fails with `offline`. */
export function httpOf(options: ClientOptions): Http {
  const { environmentId, signedContext } = options
  if (options.offline === true) {
    const refuse = () =>
      Promise.reject(new TollgateError(0, 'The client is offline by its options', 'offline'))
    return new Http({ url: 'http://offline.invalid', key: 'offline', fetch: refuse as typeof fetch })
  }
  const url = urlOf(options.url)
  const key = keyOf(options.key)
  const given = options.fetch ?? globalThis.fetch
  if (typeof given !== 'function') throw wrong('This runtime has no `fetch`: pass one as the option `fetch`')
  return new Http({ url, key, environmentId, signedContext, fetch: staying(given, url) })
}

/** A fetch that goes where it is sent and nowhere else: the key, and what events say, are for no other host. */
function staying(given: typeof fetch, url: string): typeof fetch {
  return async (input, init) => {
    const response = await given(input, { ...init, redirect: 'manual' })
    const { status, type } = response
    if (type !== 'opaqueredirect' && !redirects.has(status)) return response
    const line = `${url} sends elsewhere, which is not followed: give that address as \`url\``
    throw new TollgateError(status, line, 'unexpected_answer')
  }
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

function urlOf(url: unknown): string {
  const example = 'the address of Tollgate, such as https://tollgate.example.com'
  if (url === undefined || url === null || url === '')
    throw wrong(`The option \`url\` is missing: ${example}`)
  const isUrl = typeof url === 'string' && /^https?:\/\//i.test(url) && URL.canParse(url)
  if (!isUrl)
    throw wrong(`The option \`url\` is ${JSON.stringify(url)}, which is no address: give ${example}`)
  return url.replace(/\/+$/, '')
}

/** The value is not repeated in the message: it may be part of a key. */
export function keyOf(key: unknown): KeySource {
  if (key === undefined || key === null || key === '')
    throw wrong('The option `key` is missing: an API key (sk_… or pk_…). Is the variable it comes from set?')
  if (typeof key !== 'string' && typeof key !== 'function')
    throw wrong(`The option \`key\` is a ${typeof key}: give an API key, or a function that gives one`)
  if (typeof key === 'string' && !/^[\x21-\x7e]+$/.test(key))
    throw wrong(
      'The option `key` has a character that no key has: a space, a line end or a letter beyond ASCII',
    )
  return key as KeySource
}
