// HTTP client of the commands. They use only the public interface of a running Tollgate.
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { isLoopback } from '../config.js'
import { retryAfterMs } from '../core/values/retry-after.js'
import { jsonText } from '../json.js'
import { Failure } from './io.js'

/** Address and key of a Tollgate. */
export interface Target {
  readonly url: string
  readonly key: string
  /** Required with account-wide keys. */
  readonly environment?: string | undefined
}

/** An answer, also of a request that was refused. */
export interface Heard {
  readonly status: number
  readonly data: unknown
  /** Message of a refusal; null: it succeeded. */
  readonly error: string | null
}

const attemptsMax = 60
const waitMsMax = 30_000

/**
 * The target from `--url`, `--key`, `--key-file` and their settings. Without a key, the bootstrap key of a local
 * installation is found in the settings or in its file; it is sent to this machine only.
 */
export async function targetOf(
  options: {
    readonly url?: string
    readonly key?: string
    readonly keyFile?: string
    readonly environment?: string
  },
  { dataDir, bootstrapKey }: { readonly dataDir: string; readonly bootstrapKey: string | null },
): Promise<Target> {
  const url = (options.url ?? 'http://127.0.0.1:8080').replace(/\/+$/, '')
  if (!URL.canParse(url)) throw new Failure(`--url: ${url} is no URL`)
  const key = await keyOf(options, isLoopback(new URL(url).hostname) ? { dataDir, bootstrapKey } : null)
  if (key === '')
    throw new Failure(
      `No key: set TOLLGATE_KEY, or name a file with --key-file (the first key of ${dataDir} is sent to this machine alone)`,
    )
  return { url, key, ...(options.environment === undefined ? {} : { environment: options.environment }) }
}

async function keyOf(
  { key, keyFile }: { readonly key?: string; readonly keyFile?: string },
  local: { readonly dataDir: string; readonly bootstrapKey: string | null } | null,
): Promise<string> {
  if (key !== undefined) return key
  if (keyFile !== undefined)
    return (
      await readFile(keyFile, 'utf8').catch((error: Error) => {
        throw new Failure(`--key-file: ${error.message}`)
      })
    ).trim()
  if (local === null) return ''
  return (
    local.bootstrapKey ?? (await readFile(`${local.dataDir}/bootstrap-key`, 'utf8').catch(() => '')).trim()
  )
}

export class Client {
  constructor(private readonly target: Target) {}

  /** `data` of a response. Throws Failure with the error of a failed one. */
  async ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await this.send(method, path, body === undefined ? null : JSON.stringify(body))
    return ((await response.json()) as { data: T }).data
  }

  /** The answer of a request that may be refused. 429 and 503 are retried. errors: Failure when none answers. */
  async attempt(method: string, path: string, body?: unknown): Promise<Heard> {
    const text = body === undefined ? null : jsonText(body)
    const response = await this.response(method, path, text, {}, true)
    const answer = (await response.json().catch(() => ({}))) as { data?: unknown; error?: string }
    const error = response.ok ? null : (answer.error ?? String(response.status))
    return { status: response.status, data: answer.data, error }
  }

  /** The response of a successful request. 429 and 503 are retried as their headers say. */
  send(
    method: string,
    path: string,
    body: string | Uint8Array<ArrayBuffer> | null,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    return this.response(method, path, body, headers, false)
  }

  private async response(
    method: string,
    path: string,
    body: string | Uint8Array<ArrayBuffer> | null,
    headers: Readonly<Record<string, string>>,
    mayFail: boolean,
  ): Promise<Response> {
    const { url, key, environment } = this.target
    for (let attempt = 1; ; attempt++) {
      const answer = await fetch(url + path, {
        method,
        headers: {
          'X-Service-Api-Key': key,
          ...(environment === undefined ? {} : { 'X-Service-Environment-Id': environment }),
          ...(body === null ? {} : { 'Content-Type': 'application/json' }),
          ...headers,
        },
        body,
        // never send the key to another host
        redirect: 'manual',
      }).catch((error: Error) => error)
      if (!(answer instanceof Error) && answer.ok) return answer
      const later = answer instanceof Error || answer.status === 429 || answer.status === 503
      const redirects = !(answer instanceof Error) && answer.status < 400
      if (mayFail && !later && !redirects) return answer
      if (!later || attempt === attemptsMax || (answer instanceof Error && attempt > 5))
        throw new Failure(`${method} ${path.split('?', 1)[0]}: ${await told(answer, url)}`)
      await sleep(Math.min(waitMsMax, answer instanceof Error ? attempt * 1_000 : askedMs(answer)))
    }
  }
}

/** The wait that an answer asks for, ms; a second where it asks for none. */
function askedMs({ headers }: Response): number {
  return retryAfterMs(headers.get('retry-after'), headers.get('date'), Date.now()) || 1_000
}

async function told(answer: Response | Error, url: string): Promise<string> {
  if (answer instanceof Error) return `no Tollgate answers at ${url}`
  const text = await answer.text()
  if (answer.status >= 300 && answer.status < 400)
    return `${answer.status}: ${url} sends elsewhere, which is not followed; name that address in --url`
  try {
    return `${answer.status} ${(JSON.parse(text) as { error: string }).error}`
  } catch {
    return `${answer.status}`
  }
}
