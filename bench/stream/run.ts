// The stream and the client: checks in the caller's process, what holding companies costs, how soon a change is told, and
// what subscribers and their reconnects cost checks.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { cpuTimes, usedBetween } from '../cpu.js'
import { Pacer } from '../http/pacer.js'
import { startProduct, stop } from '../product.js'
import { type Measured, record, root } from '../record.js'
import { companies, fill, slugOf } from './data.js'
import { measureHeld } from './held.js'
import type { Changed, SubscriberTask } from './subscribers.js'

const work = join(root, 'data', `bench-stream-${process.pid}`)
const seconds = Number(process.env.TOLLGATE_BENCH_SECONDS ?? 5)
const checksPerSecond = 500
const changesPerSecond = 1_000
const reconnecting = 2_000
const toldMs = 50
/** Spans in which clients connect again: as the protocol's clients do, 0.5 to 1.5 s after their connection ended, and none. */
const reconnects = [
  { how: 'within a second', mostMs: 1_000 },
  { how: 'at once', mostMs: 0 },
]

/** The thread of the subscribers. */
class Subscribers {
  private readonly worker: Worker
  private readonly waiting = new Map<number, (told: { result?: unknown; error?: string }) => void>()
  private asked = 0

  constructor(port: number) {
    this.worker = new Worker(new URL('./subscribers.js', import.meta.url), { workerData: { port } })
    this.worker.on('message', ({ id, ...told }) => this.waiting.get(id)!(told))
  }

  async ask<T = void>(task: SubscriberTask): Promise<T> {
    const id = this.asked++
    this.worker.postMessage({ id, task })
    const { result, error } = await new Promise<{ result?: unknown; error?: string }>(resolve =>
      this.waiting.set(id, resolve),
    )
    if (error !== undefined) throw new Error(error)
    return result as T
  }

  end(): Promise<number> {
    return this.worker.terminate()
  }
}

/** Parts that can be run by themselves. */
export const streamParts: readonly string[] = ['held', 'delay', 'changes', 'reconnect']

const rounded = (value: number): number => Math.round(value * 100) / 100

/** Run it and keep the results. `only`: a part of it, to be repeated, not kept. */
export async function benchStream(only: readonly string[] = []): Promise<void> {
  const wants = (part: string) => only.length === 0 || only.includes(part)
  mkdirSync(work, { recursive: true })
  const { child, port } = await startProduct(join(work, 'data'), {
    TOLLGATE_STREAM_CONNECTIONS_PER_KEY_MAX: '4000',
  })
  const rows: Measured[] = []
  const add = (name: string, value: number, unit: string, goal = '') => {
    rows.push({ name, value: rounded(value), unit, goal })
    console.log(`${name}: ${rounded(value)} ${unit}`)
  }
  const subscribers = new Subscribers(port)
  /** CPU time of the service's threads while something is done, µs. */
  const during = async <T>(done: Promise<T>) => {
    const before = cpuTimes(child.pid!)
    const result = await done
    const used = usedBetween(before, cpuTimes(child.pid!))
    return { result, http: used.get('HTTP') ?? 0, shard: used.get('shard') ?? 0 }
  }
  const checkedWhile = async <T>(name: string, done: () => Promise<T>, goal = ''): Promise<T> => {
    const checks = new Pacer('/flags/flag1/check', JSON.stringify({ company: { slug: slugOf(7) } }))
    await checks.open(port, 16)
    checks.start(checksPerSecond)
    const result = await done()
    checks.stop()
    await sleep(100)
    if (checks.wrong.size > 0) throw new Error(`checks failed: ${JSON.stringify([...checks.wrong])}`)
    checks.close()
    add(`${name}: p50 of checks`, checks.times.quantile(0.5), 'ms')
    add(`${name}: p99 of checks`, checks.times.quantile(0.99), 'ms', goal)
    return result
  }
  try {
    await fill(port)
    if (wants('held')) {
      const held = await measureHeld(port)
      rows.push(...held)
      for (const { name, value, unit } of held) console.log(`${name}: ${value} ${unit}`)
    }
    if (wants('delay'))
      for (const count of [1, 100, 1_000]) {
        await subscribers.ask({ do: 'open', companies: Array(count).fill(1), withFlags: false })
        const rounds = 50
        const { result: delays, http } = await during(
          subscribers.ask<number[]>({ do: 'delays', company: 1, rounds }),
        )
        delays.sort((a, b) => a - b)
        add(`acknowledgement to ${count} subscribers: p50`, delays[Math.floor(delays.length / 2)]!, 'ms')
        const p99 = delays[Math.floor(delays.length * 0.99)]!
        add(`acknowledgement to ${count} subscribers: p99`, p99, 'ms', `≤ ${toldMs}`)
        if (count > 1)
          add(`CPU of the HTTP thread a message, ${count} subscribers`, http / delays.length, 'µs')
        await subscribers.ask({ do: 'close' })
      }
    if (wants('changes')) {
      const ms = seconds * 1_000
      const changing = () =>
        during(
          subscribers.ask<Changed>({
            do: 'change',
            companies: 1_000,
            perSecond: changesPerSecond,
            ms,
          }),
        )
      await checkedWhile('nothing else', () => sleep(ms))
      const alone = await checkedWhile('1,000 changes a second, nobody subscribed', changing)
      const numbers = Array.from({ length: 1_000 }, (_, i) => i)
      await subscribers.ask({ do: 'open', companies: numbers, withFlags: false })
      const told = await checkedWhile('1,000 changes a second, 1,000 subscribers', changing)
      await subscribers.ask({ do: 'close' })
      add('changes a second meanwhile', told.result.changes / seconds, '/s')
      add('messages told meanwhile', told.result.messages, '')
      for (const thread of ['http', 'shard'] as const) {
        const ofOne = (one: typeof told) => one[thread] / one.result.changes
        const name = thread === 'http' ? 'HTTP thread' : 'shard'
        add(
          `CPU of the ${name} a change that is told, beyond the change itself`,
          ofOne(told) - ofOne(alone),
          'µs',
        )
      }
    }
    if (wants('reconnect')) {
      const numbers = Array.from({ length: reconnecting }, (_, i) => i % companies)
      const first = await subscribers.ask<number>({ do: 'open', companies: numbers, withFlags: true })
      add(`${reconnecting} clients connect, a hundred at a time: until all are told`, first, 'ms')
      await checkedWhile('2,000 clients connected', () => sleep(seconds * 1_000))
      for (const { how, mostMs } of reconnects) {
        await checkedWhile(`2,000 clients drop at once (before they reconnect ${how})`, async () => {
          await subscribers.ask({ do: 'close' })
          await sleep(1_000)
        })
        const name = `2,000 clients reconnect ${how}`
        const { result: ms, http } = await checkedWhile(name, () =>
          during(subscribers.ask<number>({ do: 'reopen', mostMs })),
        )
        add(`${name}: until all are told`, ms, 'ms')
        add(`${name}: CPU of the HTTP thread a reconnect`, http / reconnecting, 'µs')
      }
    }
    if (only.length === 0) record('stream', rows)
  } finally {
    await subscribers.end()
    await stop(child)
    rmSync(work, { recursive: true, force: true })
  }
}
