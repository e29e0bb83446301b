// Connections that stay open, so that each stays with the front that the system gave it to.
import { Agent, request } from 'node:http'
import type { Test } from 'tap'
import { PassedApp } from '../../src/front/http/apps/passed-app.js'
import { bootstrapKey } from '../harness.js'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  // biome-ignore lint/suspicious/noExplicitAny: bodies are looked at member by member in tests
  readonly body: any
  /** The body as it came. */
  readonly text: string
}

/**
 * Until a test has ended, the main thread goes on taking connections beside the fronts. A service has such connections, too:
 * they came before its fronts, or when it had none.
 */
export function mainThreadTakesToo(t: Test): void {
  const { take } = PassedApp.prototype
  PassedApp.prototype.take = async () => {}
  t.teardown(() => {
    PassedApp.prototype.take = take
  })
}

/** So many that each thread surely has some. */
const usualCount = 32

/** Connections that stay open: the system spreads them over the fronts. */
export class Connections {
  private readonly agents: readonly Agent[]

  constructor(
    private readonly port: number,
    readonly count = usualCount,
  ) {
    this.agents = Array.from({ length: count }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
  }

  send(on: number, method: string, path: string, body?: unknown, key = bootstrapKey): Promise<Answer> {
    return this.sendText(on, method, path, body === undefined ? undefined : JSON.stringify(body), {
      'X-Service-Api-Key': key,
    })
  }

  /** The same of a body as it goes, and with headers. */
  sendText(
    on: number,
    method: string,
    path: string,
    text: string | undefined,
    more: Readonly<Record<string, string>>,
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const headers = { ...more, 'Content-Type': 'application/json' }
      const agent = this.agents[on % this.count]!
      const sent = request({ host: '127.0.0.1', port: this.port, method, path, agent, headers }, res => {
        let answer = ''
        res.setEncoding('utf8')
        res.on('data', piece => {
          answer += piece
        })
        res.on('end', () =>
          resolve({
            status: res.statusCode!,
            headers: res.headers,
            body: answer === '' ? null : JSON.parse(answer),
            text: answer,
          }),
        )
      })
      sent.on('error', error => {
        // the server had closed a connection that was idle for long
        const wasIdle = sent.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET'
        if (wasIdle) this.sendText(on, method, path, text, more).then(resolve, reject)
        else reject(error)
      })
      sent.end(text)
    })
  }

  /** Requests that fronts passed on until now, by route and reason. */
  async passedOn(): Promise<ReadonlyMap<string, number>> {
    // the page is made anew after a second
    await new Promise(resolve => setTimeout(resolve, 1_100))
    const text = await (await fetch(`http://127.0.0.1:${this.port}/metrics`)).text()
    const lines = text.matchAll(/^tollgate_front_passed_on_total\{route="(.+)",reason="(\w+)"\} (\d+)$/gm)
    return new Map([...lines].map(([, route, reason, count]) => [`${route} ${reason}`, Number(count)]))
  }

  /** The connections that extra fronts answer, as the ids of their requests say. The key is known there afterwards. */
  async elsewhere(key = bootstrapKey): Promise<readonly boolean[]> {
    const isElsewhere = async (on: number): Promise<boolean> => {
      // a success makes a front ask for what it must know
      await this.send(on, 'POST', '/flags/first/check', {}, key)
      const { headers } = await this.send(on, 'POST', '/flags/unknown/check', {}, key)
      return /-f\d+_/.test(String(headers['x-request-id']))
    }
    let before: readonly boolean[] = []
    for (let round = 0; round < 100; round++) {
      const are: boolean[] = []
      for (let on = 0; on < this.count; on++) are.push(await isElsewhere(on))
      // the ones that did not know it before do so now
      if (are.includes(true) && are.every((is, on) => is === before[on])) return are
      before = are
      await new Promise(resolve => setTimeout(resolve, 20))
    }
    return before
  }

  close(): void {
    for (const agent of this.agents) agent.destroy()
  }
}
