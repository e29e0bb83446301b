// An endpoint of somebody else's, on this machine: keeps what was posted to it and answers as told.
import { createHmac } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

export interface Received {
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: bodies are looked at member by member in tests
  readonly json: any
  readonly path: string
}

export interface Receiver {
  readonly url: string
  readonly received: Received[]
  /** How the next calls are answered, one each; then 200. */
  readonly answers: (number | { readonly status: number; readonly location: string } | 'never')[]
  /** Resolves when so many have come. */
  until(count: number, ms?: number): Promise<readonly Received[]>
  /** Deliveries of one action. */
  of(action: string): readonly Received[]
}

export async function receiver(t: Test): Promise<Receiver> {
  const received: Received[] = []
  const answers: Receiver['answers'] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', chunk => {
      text += chunk
    })
    request.on('end', () => {
      received.push({ headers: request.headers, text, json: JSON.parse(text), path: request.url ?? '' })
      const answer = answers.shift() ?? 200
      if (answer === 'never') return
      const [status, location] = typeof answer === 'number' ? [answer] : [answer.status, answer.location]
      response.writeHead(status, location === undefined ? {} : { Location: location }).end('ok')
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    answers,
    async until(count, ms = 60_000) {
      const end = Date.now() + ms
      while (received.length < count && Date.now() < end)
        await new Promise(resolve => setTimeout(resolve, 10))
      if (received.length < count) throw new Error(`${received.length} of ${count} came`)
      return received
    },
    of: action => received.filter(({ json }) => json.action === action),
  }
}

/** Whether a delivery carries the signature that its receiver works out. */
export function isSigned({ headers, text }: Received, secret: string): boolean {
  const timestamp = String(headers['x-service-webhook-timestamp'])
  const own = createHmac('sha256', secret).update(`${text}+${timestamp}`).digest('hex')
  return (
    own === headers['x-service-webhook-signature'] && headers['x-service-webhook-signature-version'] === 'v1'
  )
}
