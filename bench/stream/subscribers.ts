// The subscribers of the stream's benchmark and the maker of changes, in a thread of their own: checks are timed in
// another, which hears nothing of them.
import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { secret } from '../product.js'
import { slugOf, track } from './data.js'
import { StreamSocket } from './socket.js'

/** Tasks of this thread, each answered by its result. */
export type SubscriberTask =
  /** Open subscribers, each of the company with this number. Result: ms until all were told. */
  | { readonly do: 'open'; readonly companies: readonly number[]; readonly withFlags: boolean }
  /** Open each again after a random wait of at most so long. Result: ms until all were told. */
  | { readonly do: 'reopen'; readonly mostMs: number }
  /** End all of them at once. */
  | { readonly do: 'close' }
  /** Change one company and wait until everybody was told. Result: delays from the acknowledgement, ms. */
  | { readonly do: 'delays'; readonly company: number; readonly rounds: number }
  /** Change companies one after the other, at a rate. Result: changes and messages. */
  | {
      readonly do: 'change'
      readonly companies: number
      readonly perSecond: number
      readonly ms: number
    }

export interface Changed {
  readonly changes: number
  readonly messages: number
}

const { port } = workerData as { readonly port: number }
/** Connections that are being opened at once, unless all are. */
const openingMax = 100
// They stand for other machines: they take a core when the service and the sender of checks leave it to them.
setPriority(0, 19)
let sockets: StreamSocket[] = []
let opened: readonly number[] = []
let withFlags = false

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

async function send(path: string, body: object): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'X-Service-Api-Key': secret, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${text}`)
}

async function openOne(company: number): Promise<StreamSocket> {
  const socket = await StreamSocket.open(port)
  const told = socket.next(withFlags ? 2 : 1)
  if (withFlags) socket.ask({ entity_type: 'rulesengine.Flags' })
  socket.ask({ entity_type: 'rulesengine.Company', keys: { slug: slugOf(company) } })
  await told
  return socket
}

async function openAll(): Promise<number> {
  const begunMs = performance.now()
  sockets = []
  for (let from = 0; from < opened.length; from += openingMax)
    sockets.push(...(await Promise.all(opened.slice(from, from + openingMax).map(openOne))))
  return performance.now() - begunMs
}

async function reopenAll(mostMs: number): Promise<number> {
  const begunMs = performance.now()
  sockets = await Promise.all(
    opened.map(async company => {
      await pause(Math.random() * mostMs)
      return openOne(company)
    }),
  )
  return performance.now() - begunMs
}

function endAll(): void {
  for (const socket of sockets) socket.end()
  sockets = []
}

async function delays(company: number, rounds: number): Promise<number[]> {
  const all: number[] = []
  for (let round = 0; round < rounds; round++) {
    const heardMs: number[] = []
    const everybody = new Promise<void>(resolve => {
      for (const socket of sockets)
        socket.heard = () => {
          socket.heard = () => {}
          heardMs.push(performance.now())
          if (heardMs.length === sockets.length) resolve()
        }
    })
    await send('/events', track(company, 1))
    const acknowledgedMs = performance.now()
    await everybody
    all.push(...heardMs.map(ms => Math.max(0, ms - acknowledgedMs)))
    await pause(20)
  }
  return all
}

async function change(companies: number, perSecond: number, ms: number): Promise<Changed> {
  let messages = 0
  for (const socket of sockets)
    socket.heard = () => {
      messages++
    }
  const begunMs = performance.now()
  let changes = 0
  const batch = 20
  while (performance.now() - begunMs < ms) {
    await send('/event-batch', {
      events: Array.from({ length: batch }, () => track(changes++ % companies, changes % 10)),
    })
    const aheadMs = (changes / perSecond) * 1_000 - (performance.now() - begunMs)
    if (aheadMs > 0) await pause(aheadMs)
  }
  return { changes, messages }
}

async function obey(task: SubscriberTask): Promise<unknown> {
  switch (task.do) {
    case 'open':
      opened = task.companies
      withFlags = task.withFlags
      return openAll()
    case 'reopen':
      return reopenAll(task.mostMs)
    case 'close':
      return endAll()
    case 'delays':
      return delays(task.company, task.rounds)
    case 'change':
      return change(task.companies, task.perSecond, task.ms)
  }
}

parentPort!.on('message', ({ id, task }: { readonly id: number; readonly task: SubscriberTask }) => {
  obey(task).then(
    result => parentPort!.postMessage({ id, result }),
    error => parentPort!.postMessage({ id, error: String(error) }),
  )
})
