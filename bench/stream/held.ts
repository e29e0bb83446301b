// Checks in the caller's process, and what it costs to hold companies there.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Store } from '../../clients/typescript/src/store.js'
import { evaluateWith } from '../../src/core/evaluator/evaluate-snapshot.js'
import type { Measured } from '../record.js'
import { slugOf } from './data.js'
import { StreamSocket } from './socket.js'

const held = 10_000
const rounds = 1_000_000

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

export async function measureHeld(port: number): Promise<Measured[]> {
  const socket = await StreamSocket.open(port, true)
  const ask = async (data: object) => {
    const told = socket.next(1)
    socket.ask(data)
    return (await told)[0]!
  }
  const flags = JSON.parse(await ask({ entity_type: 'rulesengine.Flags' }))
  const company = await ask({ entity_type: 'rulesengine.Company', keys: { slug: slugOf(0) } })
  socket.end()
  const store = new Store(held, () => {}, { of: () => new Map(), release: () => {} })
  store.take(flags, Date.now())
  collect()
  const before = process.memoryUsage().heapUsed
  for (let i = 0; i < held; i++) {
    const one = JSON.parse(company) as { entity_id: string; data: { id: string; keys: object } }
    one.entity_id = one.data.id = `comp_${i}`
    one.data.keys = { slug: `held${i}` }
    store.take(one as never, Date.now())
  }
  const flag = store.flags.get('flag7')!
  const keys = Array.from({ length: held }, (_, i) => ({ slug: `held${i}` }))
  const check = (i: number) =>
    evaluateWith(flag, store.companies.find(keys[(i * 7_919) % held]!)!, null, null, Date.now())
  for (let i = 0; i < held; i++) check(i)
  collect()
  const bytes = process.memoryUsage().heapUsed - before
  const begunMs = performance.now()
  for (let i = 0; i < rounds; i++) check(i)
  const seconds = (performance.now() - begunMs) / 1_000
  const times: number[] = []
  for (let i = 0; i < rounds / 5; i++) {
    const begun = process.hrtime.bigint()
    check(i)
    times.push(Number(process.hrtime.bigint() - begun) / 1_000)
  }
  times.sort((a, b) => a - b)
  const p99 = times[Math.floor(times.length * 0.99)]!
  return [
    { name: 'checks in the process, one core', value: Math.round(rounds / seconds), unit: '/s', goal: '' },
    { name: 'checks in the process: p99', value: Math.round(p99 * 100) / 100, unit: 'µs', goal: '' },
    {
      name: '10,000 companies held, 10 counters each',
      value: Math.round(bytes / 1e5) / 10,
      unit: 'MB',
      goal: '',
    },
  ]
}
