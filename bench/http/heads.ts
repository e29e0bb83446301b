// Costs of reading a request's headers in one walk, beside asking for those that are needed by name: `node
// dist/bench/http/heads.js`. Each request does it twenty times over; the CPU time of one that does nothing is taken off.
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AppRequest } from '../../src/front/http/apps/app.js'
import { UwsApp } from '../../src/front/http/apps/uws-app.js'
import { Head } from '../../src/front/http/request/head.js'
import { median } from '../median.js'
import { root } from '../record.js'
import { assertWrk, putLoad } from './wrk.js'

const times = 20
const rounds = 7
const seconds = 1

const head = new Head(['X-Service-Api-Key'], ['X-Service-Environment-Id'])
const needed = [
  ...['x-service-api-key', 'transfer-encoding', 'x-service-environment-id'],
  ...['content-encoding', 'content-type', 'user-agent'],
]
const ways: Readonly<Record<string, (req: AppRequest) => void>> = {
  nothing: () => {},
  walk: req => head.read(req),
  'by name': req => {
    for (const name of needed) req.getHeader(name)
  },
}
const bare = [
  'wrk.method = "POST"',
  `wrk.body = '{"company":{"id":"a"}}'`,
  'wrk.headers["X-Service-Api-Key"] = ("k"):rep(54)',
]
const usual = {
  'User-Agent': 'client/1.0',
  Accept: '*/*',
  'Accept-Encoding': 'gzip',
  Connection: 'keep-alive',
}
const scripts: Readonly<Record<string, readonly string[]>> = {
  '4 headers': [...bare, 'wrk.headers["Content-Type"] = "application/json"'],
  '8 headers': [
    ...bare,
    'wrk.headers["Content-Type"] = "application/json"',
    ...Object.entries(usual).map(([name, value]) => `wrk.headers["${name}"] = "${value}"`),
  ],
}

await assertWrk()
const app = new UwsApp()
for (const [name, way] of Object.entries(ways))
  app.on('post', `/${encodeURIComponent(name)}`, (res, req) => {
    for (let n = 0; n < times; n++) way(req)
    res.onAborted(() => {})
    res.onData((_, isLast) => {
      if (isLast) res.end('{}')
    })
  })
const port = await app.listen('127.0.0.1', 0, false)
const script = join(root, 'data', `bench-heads-${process.pid}.lua`)
for (const [what, lines] of Object.entries(scripts)) {
  writeFileSync(script, lines.join('\n'))
  const us = new Map<string, number[]>()
  for (let round = 0; round < rounds; round++)
    for (const name of Object.keys(ways)) {
      const before = process.cpuUsage()
      const load = { port, path: `/${encodeURIComponent(name)}`, script, connections: 16, seconds }
      const { requests } = await putLoad(load)
      const { user, system } = process.cpuUsage(before)
      us.set(name, [...(us.get(name) ?? []), (user + system) / requests])
    }
  const nothing = median(us.get('nothing')!)
  for (const name of ['walk', 'by name'])
    console.log(`${what}, ${name}: ${((median(us.get(name)!) - nothing) / times).toFixed(3)} µs of CPU each`)
}
rmSync(script)
app.close()
process.exit(0)
