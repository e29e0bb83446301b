// The stream and the client: checks in the caller's process, what holding companies costs, how soon a change is told, and
// what subscribers and their reconnects cost checks.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuTimes, usedBetween } from '../cpu.js'
import { startProduct, stop } from '../product.js'
import { type Measured, record, root } from '../record.js'
import { checkedWhile } from './checks.js'
import { fill } from './data.js'
import { measureHeld } from './held.js'
import { measureReconnects } from './reconnect.js'
import { Subscribers } from './subscriber-thread.js'
import type { Changed } from './subscribers.js'

const work = join(root, 'data', `bench-stream-${process.pid}`)
const seconds = Number(process.env.TOLLGATE_BENCH_SECONDS ?? 5)
const changesPerSecond = 1_000
const toldMs = 50
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
  const checked = async <T>(name: string, done: () => Promise<T>, goal = ''): Promise<T> => {
    const { result, times } = await checkedWhile(port, done)
    add(`${name}: p50 of checks`, times.quantile(0.5), 'ms')
    add(`${name}: p99 of checks`, times.quantile(0.99), 'ms', goal)
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
      await checked('nothing else', () => sleep(ms))
      const alone = await checked('1,000 changes a second, nobody subscribed', changing)
      const numbers = Array.from({ length: 1_000 }, (_, i) => i)
      await subscribers.ask({ do: 'open', companies: numbers, withFlags: false })
      const told = await checked('1,000 changes a second, 1,000 subscribers', changing)
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
    if (wants('reconnect')) await measureReconnects(port, child.pid!, add)
    if (only.length === 0) record('stream', rows)
  } finally {
    await subscribers.end()
    await stop(child)
    rmSync(work, { recursive: true, force: true })
  }
}
