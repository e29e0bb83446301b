// node dist/bench/scale/moves.js [village|town]: a preview of a move of every company, the move itself and its way back,
// while checks go on.
import { join } from 'node:path'
import { type CpuTimes, cpuTimes } from '../cpu.js'
import { inWork } from '../interrupted.js'
import { companies, type Size } from '../population/data.js'
import { Client } from '../population/fill.js'
import { startPopulated } from '../population/town.js'
import { caughtUp, stop } from '../product.js'
import { root } from '../record.js'

const size = (process.argv[2] ?? 'town') as Size
const checkEveryMs = 5

/** Checks of companies one after the other at a steady pace, until `stop`; times in ms. */
function checking(client: Client, slugs: readonly string[]) {
  const times: number[] = []
  const underWay = new Set<Promise<unknown>>()
  let failed = 0
  let n = 0
  const timer = setInterval(() => {
    const begunMs = performance.now()
    const slug = slugs[(n++ * 7_919) % slugs.length]
    const one = client
      .ask('POST', '/flags/check', { company: { slug } })
      .then(() => times.push(performance.now() - begunMs))
      .catch(() => failed++)
    underWay.add(one)
    void one.finally(() => underWay.delete(one))
  }, checkEveryMs)
  return async () => {
    clearInterval(timer)
    await Promise.all(underWay)
    times.sort((a, b) => a - b)
    const at = (share: number) => times[Math.floor(times.length * share)]?.toFixed(1)
    return `${times.length} checks of all flags: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${times.at(-1)?.toFixed(1)} ms; ${failed} failed`
  }
}

function usedSince(before: CpuTimes, pid: number): string {
  const seconds = [...cpuTimes(pid)].map(
    ([part, us]) => [part, (us - (before.get(part) ?? 0)) / 1e6] as const,
  )
  return seconds
    .filter(([, used]) => used >= 0.05)
    .map(([part, used]) => `${part} ${used.toFixed(1)} s`)
    .join(', ')
}

const folder = join(root, 'data', `bench-moves-${process.pid}`)
await inWork(folder, async () => {
  const { child, port, population } = await startPopulated(size, folder)
  const pid = child.pid!
  const [client, checks] = [new Client(port), new Client(port)]
  const slugs = companies(size).map(one => one.keys.slug)
  const { id: planId } = await client.ask('POST', '/plans', { name: 'Next', plan_type: 'plan' })
  const [from] = population.filled.planIds
  for (const one of await client.ask('GET', `/plan-entitlements?plan_id=${from}&limit=250`)) {
    const {
      feature_id,
      value_type,
      value_bool,
      value_numeric,
      value_credit,
      consumption_rate,
      metric_period,
    } = one
    await client.ask('POST', '/plan-entitlements', {
      plan_id: planId,
      feature_id,
      value_type,
      value_bool,
      value_numeric: value_numeric === null ? null : value_numeric * 2,
      value_credit_id: value_credit?.id,
      credit_consumption_rate: consumption_rate,
      metric_period,
    })
  }
  const { draft_version: draft } = await client.ask('GET', `/plans/${planId}`)
  await client.ask('PUT', `/plans/version/${draft.id}/publish`, { migration_strategy: 'leave' })

  const measured = async (name: string, work: () => Promise<string>): Promise<void> => {
    await caughtUp(port)
    const stopChecks = checking(checks, slugs)
    const [before, begunMs] = [cpuTimes(pid), performance.now()]
    const said = await work()
    const seconds = ((performance.now() - begunMs) / 1_000).toFixed(2)
    console.log(`${name}: ${seconds} s${said}\n  CPU: ${usedSince(before, pid)}\n  ${await stopChecks()}`)
  }
  const body = { plan_id: planId, filter: { all: true } }
  await measured('nothing', async () => {
    await new Promise(resolve => setTimeout(resolve, 10_000))
    return ''
  })
  for (const name of ['preview, first', 'preview, second', 'preview, third'])
    await measured(name, async () => {
      const { totals } = await client.ask('POST', '/plan-moves/preview?limit=100', body)
      return `; ${totals.companies} companies, ${totals.would_move} would move`
    })
  const done = async (path: string, sent: object): Promise<string> => {
    const { id } = await client.ask('POST', path, sent)
    for (;;) {
      const move = await client.ask('GET', `/plan-moves/${id}`)
      if (move.status !== 'pending' && move.status !== 'in_progress') {
        moved = id
        return `; ${move.status}, ${move.completed_companies} of ${move.total_companies} moved`
      }
      await new Promise(resolve => setTimeout(resolve, 50))
    }
  }
  let moved = ''
  await measured('move', () => done('/plan-moves', body))
  await measured('back', () => done(`/plan-moves/${moved}/revert`, {}))
  for (const one of [client, checks]) one.close()
  await stop(child)
})
