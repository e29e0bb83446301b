// One row of the table: rounds of the service and of a bare route by turns, medians.
import { join } from 'node:path'
import { cpuTimes, usedBetween } from '../cpu.js'
import { startBare } from '../http/scenarios.js'
import { type Answered, type Load as HttpLoad, putLoad } from '../http/wrk.js'
import { median } from '../median.js'
import { caughtUp, here, type Runtime, secret, stop } from '../product.js'
import { root } from '../record.js'
import { keepChanging } from './changes.js'
import { type Prepared, tagged, tagOf, writePrepared } from './prepared.js'
import type { Row } from './rows.js'
import type { Population } from './streams.js'

export const seconds = Number(process.env.TOLLGATE_BENCH_SECONDS ?? 4)
const rounds = 3
/** Until its companies are loaded and its code is compiled, a service that was just started is another one. */
const warmUpSeconds = 8
const sampled = 100
const script = join(root, 'bench/population/wrk.lua')

export interface Sample {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** CPU time of one item by part, µs; of the load generator as `client`. */
  readonly cpu: Readonly<Record<string, number>>
}

export interface Measurement {
  readonly service: Sample
  readonly bare: Sample
  /** Rate of the service in hundredths of the bare route's; the median of pairs. */
  readonly share: number
}

export interface Service {
  readonly port: number
  readonly pid: number
  readonly population: Population
}

/** The file of a row's requests, and the bytes of its replies on average. */
export async function prepareRow(
  row: Row,
  service: Service,
  work: string,
): Promise<{ readonly file: string; readonly replyBytes: number }> {
  const requests = row.stream(service.population)
  const file = join(work, `${row.key}.requests`)
  writePrepared(file, requests)
  return { file, replyBytes: await replyBytes(requests, service.port, row.header) }
}

export async function measureRow(
  row: Row,
  service: Service,
  work: string,
  runtime: Runtime = here,
): Promise<Measurement> {
  const { file, replyBytes } = await prepareRow(row, service, work)
  const bare = await startBare(replyBytes, runtime)
  try {
    const asked = { row, file }
    await load({ ...asked, port: bare.port, pid: bare.child.pid!, forSeconds: 1 })
    const settle = async () => {
      if (row.writes) await caughtUp(service.port)
    }
    await load({ ...asked, ...service, forSeconds: warmUpSeconds, settle })
    const samples: { bare: Sample[]; service: Sample[] } = { bare: [], service: [] }
    for (let round = 0; round < rounds; round++) {
      samples.bare.push(await load({ ...asked, port: bare.port, pid: bare.child.pid!, forSeconds: seconds }))
      const changes = keepChanging(service.port, service.population)
      try {
        const settleAll = async () => {
          await changes.stop()
          await settle()
        }
        samples.service.push(await load({ ...asked, ...service, forSeconds: seconds, settle: settleAll }))
      } finally {
        await changes.stop()
      }
    }
    const pairs = samples.service.map(({ perSecond }, index) => perSecond / samples.bare[index]!.perSecond)
    return { service: middle(samples.service), bare: middle(samples.bare), share: 100 * median(pairs) }
  } finally {
    await stop(bare.child)
  }
}

export interface Load {
  readonly row: Pick<Row, 'items' | 'connections' | 'header'>
  readonly file: string
  readonly port: number
  readonly pid: number
  readonly forSeconds: number
  /** Runs when the last request is answered, and returns when the stores have all rows: their CPU time is counted too. */
  readonly settle?: () => Promise<void>
}

/** Put the prepared requests of a row on a port; the sample, per item. */
export async function load({ row, file, port, pid, forSeconds, settle }: Load): Promise<Sample> {
  const before = cpuTimes(pid)
  const answered = await send(file, port, row.connections, forSeconds, row.header)
  await settle?.()
  const used = usedBetween(before, cpuTimes(pid))
  const items = answered.requests * row.items
  return {
    perSecond: answered.perSecond * row.items,
    p50Ms: answered.p50Ms,
    p99Ms: answered.p99Ms,
    cpu: Object.fromEntries([...used].map(([part, us]) => [part, us / items])),
  }
}

let passes = 0

/** Prepared requests as quickly as they are answered. `header`: one that they have beside the key's. */
export function send(
  file: string,
  port: number,
  connections: number,
  forSeconds: number,
  header?: string,
): Promise<Answered> {
  return putLoad({ port, path: '', script, connections, seconds: forSeconds, env: scriptOf(file, header) })
}

/** The same until a signal, for `forSeconds` at most; requests may be refused, and the load may be held. */
export function sendUntil(
  file: string,
  port: number,
  {
    connections,
    forSeconds,
    until,
    held,
  }: Pick<HttpLoad, 'connections' | 'until' | 'held'> & { readonly forSeconds: number },
): Promise<Answered> {
  const load = {
    port,
    path: '',
    script,
    connections,
    seconds: forSeconds,
    env: scriptOf(file),
    mayRefuse: true,
  }
  return putLoad({ ...load, ...(until && { until }), ...(held && { held }) })
}

function scriptOf(file: string, header?: string): Readonly<Record<string, string>> {
  return {
    BENCH_REQUESTS: file,
    BENCH_HEADER: `X-Service-Api-Key: ${secret}${header === undefined ? '' : `\r\n${header}`}`,
    BENCH_TAG: tagOf(0).slice(0, 8),
  }
}

function middle(samples: readonly Sample[]): Sample {
  const of = (pick: (sample: Sample) => number) => median(samples.map(pick))
  const parts = new Set(samples.flatMap(({ cpu }) => Object.keys(cpu)))
  return {
    perSecond: of(one => one.perSecond),
    p50Ms: of(one => one.p50Ms),
    p99Ms: of(one => one.p99Ms),
    cpu: Object.fromEntries([...parts].map(part => [part, of(({ cpu }) => cpu[part] ?? 0)])),
  }
}

async function replyBytes(requests: readonly Prepared[], port: number, header?: string): Promise<number> {
  const step = Math.max(1, Math.floor(requests.length / sampled))
  let bytes = 0
  let count = 0
  for (let index = 0; index < requests.length; index += step) {
    const { method, path, body } = requests[index]!
    const reply = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: {
        'Content-Type': 'application/json',
        'X-Service-Api-Key': secret,
        ...(header !== undefined && Object.fromEntries([header.split(': ')])),
      },
      ...(body === '' ? {} : { body: tagged(body, tagOf(passes++)) }),
    })
    const text = await reply.text()
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`)
    bytes += Buffer.byteLength(text)
    count++
  }
  return Math.round(bytes / count)
}
