// Connections that stay open, so that each stays with the front that the system gave it to.
import { Agent, request } from 'node:http'
import { bootstrapKey } from '../harness.js'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  // biome-ignore lint/suspicious/noExplicitAny: bodies are looked at member by member in tests
  readonly body: any
}

/** Connections that stay open: the system spreads them over the fronts. */
export class Connections {
  private readonly agents: readonly Agent[]

  constructor(
    private readonly port: number,
    readonly count: number,
  ) {
    this.agents = Array.from({ length: count }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
  }

  send(on: number, method: string, path: string, body?: unknown, key = bootstrapKey): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const headers = { 'X-Service-Api-Key': key, 'Content-Type': 'application/json' }
      const agent = this.agents[on % this.count]!
      const sent = request({ host: '127.0.0.1', port: this.port, method, path, agent, headers }, res => {
        let text = ''
        res.setEncoding('utf8')
        res.on('data', piece => {
          text += piece
        })
        res.on('end', () =>
          resolve({
            status: res.statusCode!,
            headers: res.headers,
            body: text === '' ? null : JSON.parse(text),
          }),
        )
      })
      sent.on('error', error => {
        // the server had closed a connection that was idle for long
        const wasIdle = sent.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET'
        if (wasIdle) this.send(on, method, path, body, key).then(resolve, reject)
        else reject(error)
      })
      sent.end(body === undefined ? undefined : JSON.stringify(body))
    })
  }

  /** The connections that the extra front answers, as the ids of its requests say. The key is known there afterwards. */
  async elsewhere(key = bootstrapKey): Promise<readonly boolean[]> {
    const isElsewhere = async (on: number): Promise<boolean> => {
      // a success makes a front ask for what it must know
      await this.send(on, 'POST', '/flags/first/check', {}, key)
      const { headers } = await this.send(on, 'POST', '/flags/unknown/check', {}, key)
      return /-f\d+_/.test(String(headers['x-request-id']))
    }
    for (let round = 0; round < 100; round++) {
      let isKnown = false
      for (let on = 0; on < this.count && !isKnown; on++) isKnown = await isElsewhere(on)
      if (isKnown) break
      await new Promise(resolve => setTimeout(resolve, 20))
    }
    const are: boolean[] = []
    for (let on = 0; on < this.count; on++) are.push(await isElsewhere(on))
    return are
  }

  close(): void {
    for (const agent of this.agents) agent.destroy()
  }
}
