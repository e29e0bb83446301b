// Speaks the data stream's protocol as its page has it, for tests: nothing is cached, every message is kept.
import { WebSocket } from 'ws'
import { bootstrapKey } from './harness.js'

/** A message of the server. */
export interface StreamMessage {
  readonly message_type: string
  readonly entity_type: string
  readonly entity_id?: string
  // biome-ignore lint/suspicious/noExplicitAny: messages are looked at member by member in tests
  readonly data: any
}

type Wanted = (message: StreamMessage) => boolean

export interface StreamOptions {
  readonly key?: string
  readonly path?: string
  readonly protocols?: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
}

/** One connection. */
export class StreamClient {
  readonly messages: StreamMessage[] = []
  /** Code and reason, once it is closed. */
  readonly closed: Promise<readonly [code: number, reason: string]>
  private readonly waiting = new Set<() => void>()
  private read = 0
  private closedWith: number | null = null

  private constructor(readonly ws: WebSocket) {
    this.closed = new Promise(resolve => {
      ws.on('close', (code, reason) => {
        this.closedWith = code
        resolve([code, String(reason)])
        for (const look of [...this.waiting]) look()
      })
    })
    ws.on('message', data => {
      this.messages.push(JSON.parse(String(data)))
      for (const look of [...this.waiting]) look()
    })
    ws.on('error', () => {})
  }

  /** errors: Error with `status` and `body` of the refusal. */
  static async open(
    url: string,
    { key = bootstrapKey, path = '/datastream', protocols = [], headers }: StreamOptions = {},
  ) {
    const ws = new WebSocket(`${url.replace(/^http/, 'ws')}${path}`, [...protocols], {
      headers: { ...(key === '' ? {} : { 'X-Service-Api-Key': key }), ...headers },
    })
    const client = new StreamClient(ws)
    await new Promise<void>((resolve, reject) => {
      ws.on('open', resolve)
      ws.on('unexpected-response', (_, response) => {
        let body = ''
        response.on('data', chunk => {
          body += chunk
        })
        response.on('end', () =>
          reject(
            Object.assign(new Error(`refused with ${response.statusCode}`), {
              status: response.statusCode,
              body,
            }),
          ),
        )
      })
      ws.on('error', reject)
    })
    return client
  }

  ask(entityType: string, keys?: Readonly<Record<string, string>>, more: object = {}): void {
    this.ws.send(JSON.stringify({ data: { entity_type: entityType, ...(keys && { keys }), ...more } }))
  }

  /**
   * The first message not yet read that is meant; those before it count as read.
   *
   * errors  Error with the code, where the connection is closed and no such message has come.
   */
  async next(wanted: Wanted = () => true): Promise<StreamMessage> {
    for (;;) {
      while (this.read < this.messages.length) {
        const message = this.messages[this.read++]!
        if (wanted(message)) return message
      }
      if (this.closedWith !== null) throw new Error(`closed with ${this.closedWith}: no such message`)
      await new Promise<void>(resolve => {
        const look = () => {
          this.waiting.delete(look)
          resolve()
        }
        this.waiting.add(look)
      })
    }
  }

  /** The next of this type of an entity's kind. */
  of(entityType: string, messageType?: string): Promise<StreamMessage> {
    return this.next(
      one =>
        one.entity_type === entityType && (messageType === undefined || one.message_type === messageType),
    )
  }

  close(): void {
    this.ws.close()
  }
}
