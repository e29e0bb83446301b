// The commands' way to a running Tollgate: its HTTP interface and nothing else.
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from './io.js'

/** Where Tollgate is and who asks. */
export interface Target {
  readonly url: string
  readonly key: string
  /** For account-wide keys. */
  readonly environment?: string | undefined
}

const attemptsMax = 60
const waitMsMax = 30_000

/** What `--url`, `--key` and their settings say; the key of a fresh installation is found by itself, in the settings or in its file. */
export async function targetOf(
  options: { readonly url?: string; readonly key?: string; readonly environment?: string },
  { dataDir, bootstrapKey }: { readonly dataDir: string; readonly bootstrapKey: string | null },
): Promise<Target> {
  const url = (options.url ?? 'http://127.0.0.1:8080').replace(/\/+$/, '')
  if (!URL.canParse(url)) throw new Failure(`--url: ${url} is no URL`)
  const first = bootstrapKey ?? (await readFile(`${dataDir}/bootstrap-key`, 'utf8').catch(() => '')).trim()
  const key = options.key ?? first
  if (key === '')
    throw new Failure(`No key: give one with --key, or TOLLGATE_KEY (there is none in ${dataDir})`)
  return { url, key, ...(options.environment === undefined ? {} : { environment: options.environment }) }
}

export class Client {
  constructor(private readonly target: Target) {}

  /** `data` of an answer. Failure with its error. */
  async ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await this.send(method, path, body === undefined ? null : JSON.stringify(body))
    return ((await response.json()) as { data: T }).data
  }

  /** The answer of a request that succeeded; 429 and 503 are tried again when they say so. */
  async send(
    method: string,
    path: string,
    body: string | Uint8Array<ArrayBuffer> | null,
    headers: Readonly<Record<string, string>> = {},
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
      }).catch((error: Error) => error)
      if (!(answer instanceof Error) && answer.ok) return answer
      const later = answer instanceof Error || answer.status === 429 || answer.status === 503
      if (!later || attempt === attemptsMax || (answer instanceof Error && attempt > 5))
        throw new Failure(`${method} ${path.split('?', 1)[0]}: ${await told(answer, url)}`)
      const seconds = answer instanceof Error ? attempt : Number(answer.headers.get('retry-after') ?? 1)
      await sleep(Math.min(waitMsMax, seconds * 1_000))
    }
  }
}

async function told(answer: Response | Error, url: string): Promise<string> {
  if (answer instanceof Error) return `no Tollgate answers at ${url}`
  const text = await answer.text()
  try {
    return `${answer.status} ${(JSON.parse(text) as { error: string }).error}`
  } catch {
    return `${answer.status}`
  }
}
