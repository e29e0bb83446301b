// A process of its own that asks what consoles asked, at the same instants and again and again, and holds their data streams.
import { once } from 'node:events'
import { WebSocket } from 'ws'

export interface Replayed {
  readonly port: number
  readonly env: string
  /** The time after which it begins anew. */
  readonly spanMs: number
  /** Cookies of the sessions, in their order. */
  readonly cookies: readonly string[]
  readonly calls: readonly {
    readonly atMs: number
    readonly session: number
    readonly method: string
    readonly path: string
    readonly body: string | null
  }[]
  /** Messages that each session sent on its data stream. */
  readonly watched: readonly { readonly session: number; readonly text: string }[]
}

const [replayed] = (await once(process, 'message')) as [Replayed]
const { port, env, spanMs, cookies, calls, watched } = replayed
const url = `http://127.0.0.1:${port}`

for (const { session, text } of watched) {
  const socket = new WebSocket(
    `ws://127.0.0.1:${port}/console/datastream`,
    ['tollgate', `environment.${env}`],
    {
      headers: { Cookie: cookies[session]!, Origin: url },
    },
  )
  await once(socket, 'open')
  socket.send(text)
}

async function ask({ session, method, path, body }: Replayed['calls'][number]): Promise<void> {
  const reply = await fetch(`${url}/console/api${path}`, {
    method,
    headers: {
      Cookie: cookies[session]!,
      'X-Service-Environment-Id': env,
      ...(body !== null && {
        'Content-Type': 'application/json',
        'Sec-Fetch-Site': 'same-origin',
        Origin: url,
      }),
    },
    ...(body !== null && { body }),
  })
  await reply.arrayBuffer()
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status}`)
}

const again = () => {
  for (const call of calls) setTimeout(() => void ask(call), call.atMs)
}
again()
setInterval(again, spanMs)
process.send!('ready')
