// A day of idempotency keys with time as an argument: their memory, the pauses as they move into files, the cost of a
// claim beside these files, and the time of a start. BENCH_KEYS sets their number (10,000,000).
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { encodeId } from '../../src/core/values/id.js'
import { Dedupe, windowMs } from '../../src/entities/idempotency/dedupe.js'
import { KeyArchive } from '../../src/entities/idempotency/key-archive.js'
import { root } from '../record.js'

const keys = Number(process.env.BENCH_KEYS ?? 10_000_000)
const environmentId = 'env_23456789ABC'
const beginsMs = Date.UTC(2026, 5, 1)
const stepMs = 600_000
const steps = windowMs / stepMs
const perStep = Math.ceil(keys / steps)
const stepsPerLine = 6
const perBatch = 500
const directory = join(root, 'data', `bench-dedupe-${process.pid}`)
const wholeRoom = 2 ** 31

function opened(nowMs: number) {
  const window = new Dedupe(wholeRoom)
  const archive = KeyArchive.open({ directory, shares: window.shares, windowMs }, nowMs)
  window.keepOldIn(archive)
  return { window, archive }
}

/** Cost of claims, the first half in batches, the others one after the other; µs each. */
function claim(window: Dedupe, from: number, count: number, nowMs: number): { batch: number; alone: number } {
  const half = from + Math.floor(count / 2 / perBatch) * perBatch
  const batch = costOf(half - from, () => {
    let firsts = 0
    for (let begin = from; begin < half; begin += perBatch) {
      for (let n = 0; n < perBatch; n++) window.prepare(n, environmentId, `key-${begin + n}`)
      window.siftPrepared(perBatch)
      for (let n = 0; n < perBatch; n++)
        if (window.claimPrepared(n, (begin + n) >>> 0, 7, nowMs, 0, nowMs, 0) === null) firsts++
    }
    return firsts
  })
  const alone = costOf(from + count - half, () => {
    let firsts = 0
    for (let n = half; n < from + count; n++)
      if (window.claimFor(environmentId, `key-${n}`, n >>> 0, 7, nowMs, 0, nowMs) === null) firsts++
    return firsts
  })
  return { batch, alone }
}

/** CPU of each of so many claims, of which all must be first ones; µs. */
function costOf(count: number, work: () => number): number {
  const before = process.cpuUsage()
  const firsts = work()
  const { user, system } = process.cpuUsage(before)
  if (firsts !== count) throw new Error(`${count - firsts} new keys were taken for old ones`)
  return (user + system) / count
}

function filesIn(): readonly string[] {
  return readdirSync(directory).filter(name => name.endsWith('.keys'))
}

mkdirSync(directory, { recursive: true })
try {
  const { window, archive } = opened(beginsMs)
  let nowMs = beginsMs
  let [longestMs, cpuUs] = [0, 0]
  let cost = { batch: 0, alone: 0 }
  for (let step = 0; step < steps; step++) {
    cost = claim(window, step * perStep, perStep, nowMs)
    nowMs += stepMs
    const beforeUs = cpuUs
    const before = process.cpuUsage()
    const rotating = archive.rotate(window, nowMs)
    let isOver = false
    void rotating.finally(() => {
      isOver = true
    })
    // by CPU time: the machine may be busy
    for (let last = process.cpuUsage(); !isOver; last = process.cpuUsage()) {
      await nextTurn()
      const turn = process.cpuUsage(last)
      longestMs = Math.max(longestMs, (turn.user + turn.system) / 1_000)
    }
    await rotating
    const { user, system } = process.cpuUsage(before)
    cpuUs += user + system
    // one line an hour: what grows with the number of keys shows here
    if ((step + 1) % stepsPerLine === 0)
      console.log(
        `hour ${(step + 1) / stepsPerLine}: ${filesIn().length} files, a claim in a batch ${cost.batch.toFixed(2)} µs, alone ${cost.alone.toFixed(2)} µs, ` +
          `the last move ${((cpuUs - beforeUs) / perStep).toFixed(2)} µs a key`,
      )
  }
  const files = filesIn()
  const disk = files.reduce((sum, name) => sum + statSync(join(directory, name)).size, 0)
  tell('keys', window.size)
  tell('of them in memory', window.inMemory)
  tell('files', files.length)
  tell('bytes in memory for a key in a file', archive.memory / archive.size)
  tell('bytes on disk for a key', disk / archive.size)
  tell('bytes in memory, all together', window.bytes)
  tell('CPU of moving and merging, µs a key', cpuUs / window.size)
  tell('longest turn meanwhile, ms of CPU', longestMs)
  tell('CPU of a claim in a batch, beside all files, µs', cost.batch)
  tell('the same alone, µs', cost.alone)
  const repeats = 20_000
  const before = process.cpuUsage()
  for (let i = 0; i < repeats; i++) {
    const n = Math.floor((i / repeats) * (steps - 3) * perStep)
    const first = window.find(environmentId, `key-${n}`, nowMs)
    if (first?.eventId !== encodeId('evt_', n >>> 0, 7) && n >= perStep) throw new Error(`key-${n} is lost`)
  }
  const { user, system } = process.cpuUsage(before)
  tell('CPU of an old repeat, µs', (user + system) / repeats)
  archive.close()
  const begunMs = performance.now()
  const again = opened(nowMs)
  tell('opening the files at a start, ms', performance.now() - begunMs)
  tell('minutes to read from ClickHouse then', (nowMs - again.archive.missingSince(0)) / 60_000)
  again.archive.close()
} finally {
  rmSync(directory, { recursive: true, force: true })
}

function tell(what: string, value: number): void {
  console.log(what.padEnd(48), value.toLocaleString('en', { maximumFractionDigits: 2 }))
}
