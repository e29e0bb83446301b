// CPU time of a request that ends in 401, for every route and hostile bodies, over one connection: `npm run bench -- refused`.
// Goal: at most 0.2 ms each.
import { readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { routes } from '../../src/serve/routes.js'
import { startProduct, stop } from '../product.js'
import { root } from '../record.js'

const goalMs = 0.2
const each = Number(process.env.TOLLGATE_BENCH_EACH ?? 200)
/** Clock ticks a second in /proc. */
const ticks = 100

const verbs = { get: 'GET', post: 'POST', put: 'PUT', del: 'DELETE' } as const
const deep = `{"events":[${'['.repeat(30_000)}${']'.repeat(30_000)}]}`
const bodies: readonly (readonly [name: string, body: Buffer, headers?: Record<string, string>])[] = [
  ['small', Buffer.from('{"events":[{"api_key":"sk_dev_nobody"}]}')],
  ['60 KiB deep', Buffer.from(deep)],
  ['60 KiB of keys', Buffer.from(`{"events":[${'{"api_key":"sk_dev_x"},'.repeat(2_600)}{}]}`)],
  ['gzip bomb', gzipSync(Buffer.alloc(8_000_000, 0x5b)), { 'content-encoding': 'gzip' }],
]

function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return ((Number(fields[11]) + Number(fields[12])) / ticks) * 1_000
}

function send(
  url: URL,
  agent: Agent,
  method: string,
  path: string,
  body: Buffer | null,
  headers: object,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: url.hostname,
        port: url.port,
        agent,
        method,
        path,
        headers: { ...headers, ...(body && { 'content-length': body.length }) },
      },
      response => {
        response.resume()
        response.on('end', () => resolve(response.statusCode ?? 0))
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

/**
 * Measure a running Tollgate.
 *
 * pid      of its process: the time of all its threads is divided among the requests.
 * returns  lines for people, slowest first, and whether all kept to the goal.
 */
async function measure(
  base: string,
  pid: number,
): Promise<{ readonly lines: readonly string[]; readonly kept: boolean }> {
  const url = new URL(base)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const found: { name: string; ms: number }[] = []
  const resting = await idle(pid)
  for (const route of routes) {
    const path = route.path.replaceAll(/:[^/]+/g, 'x')
    const kinds =
      route.body === 'none'
        ? [['no body', null, {}] as const]
        : route.keysInBody
          ? bodies
          : bodies.slice(0, 1)
    for (const [kind, body, headers = {}] of kinds) {
      const beganMs = performance.now()
      const before = cpuMs(pid)
      for (let n = 0; n < each; n++) {
        const status = await send(url, agent, verbs[route.method], path, body, headers)
        if (status !== 401 && status !== 429) throw new Error(`${route.method} ${path} answered ${status}`)
      }
      const spent = cpuMs(pid) - before - resting * (performance.now() - beganMs)
      found.push({ name: `${verbs[route.method]} ${route.path}, ${kind}`, ms: spent / each })
    }
  }
  agent.destroy()
  found.sort((a, b) => b.ms - a.ms)
  const mean = found.reduce((sum, { ms }) => sum + ms, 0) / found.length
  const lines = found.map(({ name, ms }) => `${ms.toFixed(3)} ms  ${name}`)
  return {
    lines: [`mean ${mean.toFixed(3)} ms of ${found.length} kinds of request`, ...lines],
    kept: found.every(({ ms }) => ms <= goalMs),
  }
}

/** CPU ms per ms of an idle service. */
async function idle(pid: number): Promise<number> {
  const before = cpuMs(pid)
  await new Promise(resolve => setTimeout(resolve, 3_000))
  return (cpuMs(pid) - before) / 3_000
}

/** Start a Tollgate, measure it, and print the result. */
export async function benchRefused(): Promise<void> {
  const work = join(root, 'data', `bench-${process.pid}`)
  const product = await startProduct(join(work, 'data'))
  try {
    const { lines, kept } = await measure(`http://127.0.0.1:${product.port}`, product.child.pid!)
    for (const line of lines.slice(0, 20)) console.log(line)
    console.log(kept ? `all within ${goalMs} ms` : `not all within ${goalMs} ms`)
  } finally {
    await stop(product.child)
    rmSync(work, { recursive: true, force: true })
  }
}
