// Requests to the service: headers, time limits, and errors that say what was wrong.
import { ServiceClock } from './clock.js'
import { reasonOf, TollgateError } from './errors.js'
import { unref } from './stream.js'

/** A key, or a function that gives the one that is valid now. */
export type KeySource = string | (() => string | Promise<string>)

export interface HttpOptions {
  readonly url: string
  readonly key: KeySource
  readonly environmentId?: string | undefined
  readonly signedContext?: (() => string | Promise<string>) | undefined
  readonly fetch: typeof fetch
}

/** Time limit of requests that send events, ms. */
const postMs = 30_000

export class Http {
  readonly url: string
  readonly clock = new ServiceClock()
  /** The way of every request. */
  readonly fetch: typeof fetch
  private keySource: KeySource

  constructor(private readonly options: HttpOptions) {
    this.url = options.url
    this.keySource = options.key
    this.fetch = async (input, init) => {
      const askedMs = Date.now()
      const response = await options.fetch(input, init)
      this.clock.heard(response.headers, askedMs, Date.now())
      return response
    }
  }

  setKey(key: KeySource): void {
    this.keySource = key
  }

  /** The key that is valid now. */
  async key(withinMs = postMs): Promise<string> {
    const { keySource } = this
    return typeof keySource === 'string' ? keySource : given('key', keySource, withinMs)
  }

  /** The signed context of the page, or undefined without one. */
  async context(withinMs = postMs): Promise<string | undefined> {
    const { signedContext } = this.options
    return signedContext && given('signedContext', signedContext, withinMs)
  }

  get environmentId(): string | undefined {
    return this.options.environmentId
  }

  /** Headers of a request. */
  async headers(withinMs = postMs): Promise<Record<string, string>> {
    const headers: Record<string, string> = { 'X-Service-Api-Key': await this.key(withinMs) }
    const { environmentId } = this
    if (environmentId !== undefined) headers['X-Service-Environment-Id'] = environmentId
    const context = await this.context(withinMs)
    if (context !== undefined) headers['X-Service-Signed-Context'] = context
    return headers
  }

  /**
   * `data` of an answer.
   *
   * errors  TollgateError: of the status, `timeout`, `unreachable`, or `unexpected_answer`.
   */
  async call(method: string, path: string, body: object | null, withinMs: number): Promise<unknown> {
    const { url } = this
    const response = await this.send(method, path, body === null ? null : JSON.stringify(body), withinMs)
    let told: { readonly data?: unknown; readonly error?: string }
    try {
      told = (await response.json()) as typeof told
    } catch (error) {
      throw unanswered(error, url, withinMs, response.status)
    }
    if (!response.ok) throw new TollgateError(response.status, told?.error ?? `Answered ${response.status}`)
    return told.data
  }

  /** Send events. `keepAlive`: the page or process may end meanwhile. */
  async post(path: string, body: string, keepAlive: boolean): Promise<Response> {
    if (!keepAlive) return this.send('POST', path, body, postMs)
    const headers = { ...(await this.headers()), 'Content-Type': 'application/json' }
    return this.fetch(this.url + path, { method: 'POST', headers, body, keepalive: true })
  }

  private async send(method: string, path: string, body: string | null, withinMs: number): Promise<Response> {
    const headers = await this.headers(withinMs)
    if (body !== null) headers['Content-Type'] = 'application/json'
    try {
      return await this.fetch(this.url + path, {
        method,
        headers,
        body,
        signal: AbortSignal.timeout(withinMs),
      })
    } catch (error) {
      throw unanswered(error, this.url, withinMs, 0)
    }
  }

  /**
   * Why the stream cannot be opened: an ordinary request to its address hears it.
   *
   * returns  the refusal; null: the service would open it.
   */
  async streamRefusal(isPage: boolean, withinMs: number): Promise<TollgateError | null> {
    try {
      // A page may read the answers of checks alone.
      if (isPage) await this.call('POST', '/flags/check', {}, withinMs)
      else await this.call('GET', '/datastream', null, withinMs)
      return null
    } catch (error) {
      if (!(error instanceof TollgateError)) return new TollgateError(0, reasonOf(error), 'unreachable')
      return error.status === 400 || error.status === 426 ? null : error
    }
  }
}

/**
 * The text that a function of the caller gives, without space around it.
 *
 * errors  TollgateError: `timeout`; `options_invalid` for what no header takes. Its value is a secret, and not repeated.
 */
async function given(
  option: string,
  source: () => string | Promise<string>,
  withinMs: number,
): Promise<string> {
  const told = source()
  const text: unknown = typeof told === 'string' ? told : await inTime(option, told, withinMs)
  const value = typeof text === 'string' ? text.trim() : ''
  if (/^[\x21-\x7e]+$/.test(value)) return value
  const what = value === '' ? 'nothing' : 'a text with a space, a line end or a letter beyond ASCII inside'
  throw new TollgateError(0, `The function \`${option}\` gave ${what}`, 'options_invalid')
}

async function inTime<T>(option: string, told: Promise<T>, withinMs: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    const error = new TollgateError(0, `The function \`${option}\` gave nothing in ${withinMs} ms`, 'timeout')
    timer = setTimeout(() => reject(error), withinMs)
    unref(timer)
  })
  try {
    return await Promise.race([told, late])
  } finally {
    clearTimeout(timer)
  }
}

function unanswered(error: unknown, url: string, withinMs: number, status: number): TollgateError {
  if (error instanceof TollgateError) return error
  const { name, cause } = error as { readonly name?: string; readonly cause?: unknown }
  if (name === 'TimeoutError' || name === 'AbortError')
    return new TollgateError(0, `${url} did not answer in ${withinMs} ms`, 'timeout', { cause: error })
  if (error instanceof SyntaxError)
    return new TollgateError(
      status,
      `${url} answered ${status} with a text that is no JSON: is it Tollgate?`,
      'unexpected_answer',
    )
  const why = cause instanceof Error && cause.message !== '' ? cause.message : reasonOf(error)
  return new TollgateError(0, `${url} cannot be reached: ${why}`, 'unreachable', { cause: error })
}
