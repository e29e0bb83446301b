// node dist/bench/population/peer.js PORT PATH HEADER [SIZE]: all flags of one context, asked of this service and of another
// flag server by turns in one run. The other one runs already, on PORT, with 50 flags; PATH takes a POST of
// {"context": {"userId", "properties"}}, HEADER is the whole header that admits it ("Authorization: …"). Companies are drawn alike.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { assertWrk, putLoad } from '../http/wrk.js'
import { median } from '../median.js'
import { secret, stop } from '../product.js'
import { root } from '../record.js'
import { companies, plans, type Size, seed, sizes, userKeys } from './data.js'
import { prepareRow } from './measure.js'
import { writePrepared } from './prepared.js'
import { Random } from './random.js'
import { rows } from './rows.js'
import { requestsMin } from './streams.js'
import { startPopulated } from './town.js'

const rounds = 5
const seconds = 5
const warmUpSeconds = 8
const connections = 64
const [port, path, header, size = 'town'] = process.argv.slice(2) as [string, string, string, Size?]

await assertWrk()
const work = join(root, 'data', `bench-${process.pid}`)
mkdirSync(work, { recursive: true })
const service = await startPopulated(size, work)
try {
  const row = rows.find(({ key }) => key === 'all-uniform')!
  const { population } = service
  const { file } = await prepareRow(row, { port: service.port, pid: service.child.pid!, population }, work)
  const contexts = join(work, 'peer.requests')
  writePeer(contexts)
  const asked = {
    service: { port: service.port, file, header: `X-Service-Api-Key: ${secret}` },
    peer: { port: Number(port), file: contexts, header },
  }
  for (const one of Object.values(asked)) await load({ ...one, forSeconds: warmUpSeconds })
  const heard = { service: [] as Heard[], peer: [] as Heard[] }
  for (let round = 0; round < rounds; round++)
    for (const name of ['service', 'peer'] as const)
      heard[name].push(await load({ ...asked[name], forSeconds: seconds }))
  for (const [name, samples] of Object.entries(heard))
    console.log(
      `${name}: ${Math.round(median(samples.map(one => one.perSecond))).toLocaleString('en')} requests/s, ` +
        `p50 ${median(samples.map(one => one.p50Ms)).toFixed(1)} ms, p99 ${median(samples.map(one => one.p99Ms)).toFixed(1)} ms`,
    )
  const ratios = heard.service.map(({ perSecond }, index) => perSecond / heard.peer[index]!.perSecond)
  console.log(`median of pairs: ${median(ratios).toFixed(1)} times the rate of the peer`)
} finally {
  await stop(service.child)
  rmSync(work, { recursive: true, force: true })
}

interface Heard {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

function load(one: {
  readonly port: number
  readonly file: string
  readonly header: string
  readonly forSeconds: number
}): Promise<Heard> {
  const env = { BENCH_REQUESTS: one.file, BENCH_HEADER: one.header, BENCH_TAG: '00000000' }
  const script = join(root, 'bench/population/wrk.lua')
  return putLoad({ port: one.port, path: '', script, connections, seconds: one.forSeconds, env })
}

/** The companies of the population, as contexts that carry what this service knows of them. */
function writePeer(file: string): void {
  const random = new Random(seed + 9)
  const all = companies(size)
  writePrepared(
    file,
    Array.from({ length: requestsMin }, () => {
      const index = random.below(sizes[size])
      const { keys, traits, plan } = all[index]!
      const properties = { company: keys.slug, plan: plans[plan]!.name, ...traits }
      const context = { userId: userKeys(index, random.below(2)).email, properties }
      return { method: 'POST', path, body: JSON.stringify({ context }) }
    }),
  )
}
