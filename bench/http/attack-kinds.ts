// The requests of `npm run bench -- attacks` (security H1 to H6).
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { WebSocket } from 'ws'

/** A service and the keys of its callers. */
export interface Callers {
  readonly url: string
  /** A key of a test environment that may do all. */
  readonly tester: string
  /** A read-only key of a test environment. */
  readonly reader: string
  /** Publishable keys of a test environment and of production. */
  readonly publishable: string
  readonly production: { readonly secret: string; readonly publishable: string }
}

export type Send = (method: string, path: string, body?: object | Buffer, key?: string) => Promise<Answer>

interface World extends Callers {
  readonly send: Send
}

interface Answer {
  readonly status: number
  readonly length: number
  readonly text: string
}

interface Attack {
  /** The requests, in words. */
  readonly what: string
  /** Sent by the bench itself, before anything is measured. */
  prepare?(send: Send): Promise<unknown>
  run(world: World, untilMs: number): Promise<unknown>
}

/** Send the requests of one kind until a time of this thread's clock. Returns the answers in words, where there are any. */
export function attack(kind: string, callers: Callers, untilMs: number): Promise<unknown> {
  const send = sender(callers.url, callers.publishable)
  return attacks[kind]!.run({ ...callers, send }, untilMs)
}

/** Requests to a service, by default with one key. Bytes are sent as compressed. */
export function sender(url: string, usual: string): Send {
  return async (method, path, body, key = usual) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        'X-Service-Api-Key': key,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(Buffer.isBuffer(body) && { 'Content-Encoding': 'gzip' }),
      },
      ...(body !== undefined && {
        body: Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body),
      }),
    })
    const text = await response.text()
    return { status: response.status, length: text.length, text }
  }
}

const numeral = (digits: number) => '9'.repeat(digits)
const event = (quantity: string) =>
  `{"event_type":"track","body":{"event":"e","company":{"slug":"a"},"quantity":${quantity}}}`

export const attacks: Readonly<Record<string, Attack>> = {
  flags: {
    what: 'H1 four connections that read nothing, each asking for all flags 200 times a second',
    async run(world, untilMs) {
      const sockets = await opened(world, 4)
      for (const socket of sockets) socket.pause()
      const frame = JSON.stringify({ data: { entity_type: 'rulesengine.Flags' } })
      while (performance.now() < untilMs) {
        for (const socket of sockets)
          for (let n = 0; n < 20; n++) if (socket.readyState === WebSocket.OPEN) socket.send(frame)
        await sleep(100)
      }
      for (const socket of sockets) socket.terminate()
    },
  },
  echoes: {
    what: 'H1 one connection that reads nothing and asks for keys of 60 kB that are nobody’s',
    async run(world, untilMs) {
      const [socket] = await opened(world, 1)
      socket!.pause()
      for (let n = 0; performance.now() < untilMs; n++) {
        const keys = { slug: `${n}${'x'.repeat(60_000)}` }
        const frame = JSON.stringify({ data: { entity_type: 'rulesengine.Company', keys } })
        if (socket!.readyState === WebSocket.OPEN) socket!.send(frame)
        await sleep(10)
      }
      socket!.terminate()
    },
  },
  names: {
    what: 'H2 300 lists of 1,000 unknown companies on four connections',
    async run(world, untilMs) {
      const sockets = await opened(world, 4)
      const list = Array.from({ length: 1_000 }, (_, n) => ({ slug: `nobody-${n}` }))
      const frame = JSON.stringify({ data: { entity_type: 'rulesengine.Company', keys_list: list } })
      for (let n = 0; n < 75; n++)
        for (const socket of sockets) if (socket.readyState === WebSocket.OPEN) socket.send(frame)
      await sleep(Math.max(0, untilMs - performance.now()))
      for (const socket of sockets) socket.terminate()
    },
  },
  bulk: {
    what: 'H3 39 bulk checks of 100 contexts a second with a publishable key',
    run: ({ send, publishable }, untilMs) => {
      const contexts = Array.from({ length: 100 }, (_, n) => ({ company: { slug: `c${n}` } }))
      return many(untilMs, 39, () => send('POST', '/flags/check-bulk', { contexts }, publishable))
    },
  },
  users: {
    what: 'H4 batches of 9,900 new users with production’s publishable key, ten a second',
    run: ({ send, production }, untilMs) => {
      let made = 0
      const identify = () => ({ event_type: 'identify', body: { keys: { cookie: `c${++made}` } } })
      return many(untilMs, 10, () =>
        send(
          'POST',
          '/event-batch',
          { events: Array.from({ length: 9_900 }, identify) },
          production.publishable,
        ),
      )
    },
  },
  entities: {
    what: 'H4 batches of 3,000 uses by new companies and new users with a publishable key, ten a second',
    run: ({ send, publishable }, untilMs) => {
      let made = 0
      const use = () => {
        made++
        return {
          event_type: 'track',
          body: { event: 'e', company: { slug: `c${made}` }, user: { cookie: `c${made}` } },
        }
      }
      return many(untilMs, 10, () =>
        send('POST', '/event-batch', { events: Array.from({ length: 3_000 }, use) }, publishable),
      )
    },
  },
  failures: {
    what: 'H4 batches of 9,900 events that are stored as failed, with a publishable key, ten a second',
    run: ({ send, publishable }, untilMs) => {
      const events = Array.from({ length: 9_900 }, () => ({ event_type: 'identify', body: { keys: {} } }))
      return many(untilMs, 10, () => send('POST', '/event-batch', { events }, publishable))
    },
  },
  numerals: {
    what: 'H5 seven compressed numerals of 1,040,000 digits a second with a publishable key',
    run: ({ send, publishable }, untilMs) => {
      const body = gzipSync(event(numeral(1_040_000)))
      return many(untilMs, 7, () => send('POST', '/events', body, publishable))
    },
  },
  batches: {
    what: 'H5 the same in batches, with 4,000,000 digits',
    run: ({ send, publishable }, untilMs) => {
      const body = gzipSync(`{"events":[${event(numeral(4_000_000))}]}`)
      return many(untilMs, 7, () => send('POST', '/event-batch', body, publishable))
    },
  },
  objects: {
    what: 'H5 checks of 300,000 empty objects, seven a second, with a publishable key',
    run: ({ send, publishable }, untilMs) => {
      const body = gzipSync(`{"company":{"slug":"a"},"x":[${Array(300_000).fill('{}').join()}]}`)
      return many(untilMs, 7, () => send('POST', '/flags/f0/check', body, publishable))
    },
  },
  figures: {
    what: 'H6 20 lookups a second of a company with very many event names, with a read-only key',
    async prepare(send) {
      await send('POST', '/companies', { keys: { slug: 'many' } })
      const named = (name: number) => ({
        event_type: 'track',
        body: { event: `name ${name}`, company: { slug: 'many' } },
      })
      for (let n = 0; n < 10; n++)
        await send('POST', '/event-batch', {
          events: Array.from({ length: 1_000 }, (_, i) => named(1_000 * n + i)),
        })
    },
    run: ({ send, reader }, untilMs) =>
      many(untilMs, 20, () => send('GET', '/companies/lookup?slug=many', undefined, reader)),
  },
}

/** Send this often until the time is over. Returns the answers in words. */
async function many(untilMs: number, perSecond: number, ask: () => Promise<Answer>): Promise<string> {
  const asked: Promise<Answer | null>[] = []
  while (performance.now() < untilMs) {
    asked.push(ask().catch(() => null))
    await sleep(1_000 / perSecond)
  }
  const answers = await Promise.all(asked)
  const counts = new Map<string, number>()
  for (const answer of answers) {
    const status = `${answer?.status ?? 'cut'}`
    counts.set(status, (counts.get(status) ?? 0) + 1)
  }
  const longest = Math.max(0, ...answers.map(answer => answer?.length ?? 0))
  return `${[...counts].map(([status, count]) => `${count} × ${status}`).join(', ')}, the longest ${longest} bytes`
}

async function opened({ url, reader }: World, count: number): Promise<WebSocket[]> {
  return Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<WebSocket>((resolve, reject) => {
          const headers = { 'X-Service-Api-Key': reader }
          const socket = new WebSocket(`${url.replace('http', 'ws')}/datastream`, { headers })
          socket.on('open', () => resolve(socket)).on('error', reject)
        }),
    ),
  )
}
