// Clients of the stream connect again: their cost for checks, once at the service, and by turns at a bare server on the same
// machine, which shows how much of the delay comes from the cores that they share.
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuTimes, usedBetween } from '../cpu.js'
import { startListening } from '../http/scenarios.js'
import { median } from '../median.js'
import { stop } from '../product.js'
import { checkedWhile } from './checks.js'
import { companies, slugOf } from './data.js'
import { StreamSocket } from './socket.js'
import { Subscribers } from './subscriber-thread.js'

const clients = 2_000
const rounds = 7
/** Spans in which clients connect again: as the protocol's clients do, 0.5 to 1.5 s after their connection ended, and none. */
const spans = [
  { how: 'within a second', mostMs: 1_000 },
  { how: 'at once', mostMs: 0 },
]

/** Measure; `add` notes a row. pid: the service's. */
export async function measureReconnects(
  port: number,
  pid: number,
  add: (name: string, value: number, unit: string) => void,
): Promise<void> {
  const bare = await startListening('bench/stream/bare.js', (await replyBytes(port)).map(String))
  const servers = [
    { where: 'at the service', subscribers: new Subscribers(port) },
    { where: 'at a bare server', subscribers: new Subscribers(bare.port) },
  ]
  const p99s = new Map<string, number[]>()
  const checked = async (name: string, done: () => Promise<unknown>): Promise<void> => {
    const { times } = await checkedWhile(port, done)
    p99s.set(name, [...(p99s.get(name) ?? []), times.quantile(0.99)])
  }
  try {
    const numbers = Array.from({ length: clients }, (_, i) => i % companies)
    for (let round = 0; round < rounds; round++)
      for (const { where, subscribers } of servers) {
        const firstMs = await subscribers.ask<number>({ do: 'open', companies: numbers, withFlags: true })
        if (round === 0) add(`${clients} clients connect ${where}, a hundred at a time`, firstMs, 'ms')
        await checked(`${clients} clients connected ${where}`, () => sleep(1_000))
        for (const { how, mostMs } of spans) {
          await checked(`${clients} clients drop at once ${where}`, async () => {
            await subscribers.ask({ do: 'close' })
            await sleep(1_000)
          })
          const name = `${clients} clients reconnect ${how} ${where}`
          const before = cpuTimes(pid)
          await checked(name, async () => {
            const ms = await subscribers.ask<number>({ do: 'reopen', mostMs })
            if (round === 0) add(`${name}: until all are told`, ms, 'ms')
          })
          const httpUs = usedBetween(before, cpuTimes(pid)).get('HTTP') ?? 0
          if (round === 0) add(`${name}: CPU of the HTTP thread`, httpUs / clients, 'µs a client')
        }
        await subscribers.ask({ do: 'close' })
        await sleep(1_000)
      }
    for (const [name, values] of p99s) {
      add(`${name}: p99 of checks, median of ${rounds}`, median(values), 'ms')
      add(`${name}: p99 of checks, longest of ${rounds}`, Math.max(...values), 'ms')
    }
  } finally {
    for (const { subscribers } of servers) await subscribers.end()
    await stop(bare.child)
  }
}

/** Bytes of the service's answers to a client: all flags, and a company. */
async function replyBytes(port: number): Promise<number[]> {
  const socket = await StreamSocket.open(port, true)
  const told = socket.next(2)
  socket.ask({ entity_type: 'rulesengine.Flags' })
  socket.ask({ entity_type: 'rulesengine.Company', keys: { slug: slugOf(0) } })
  const texts = await told
  socket.end()
  return texts.map(text => Buffer.byteLength(text))
}
