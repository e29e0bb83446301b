// The numbers at an address of their own (security 16): there alone, with the token, and nothing else is answered there.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { startHere } from '../harness.js'

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise(resolve => server.close(resolve))
  return port
}

t.test('security 16: /metrics has an address to itself, and its token may be a file', async t => {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-token-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'token')
  writeFileSync(file, 'a token\n')
  const port = await freePort()
  const { client, tollgate } = await startHere(t, {
    TOLLGATE_METRICS_ADDRESS: `127.0.0.1:${port}`,
    TOLLGATE_METRICS_TOKEN_FILE: file,
  })
  const own = `http://127.0.0.1:${port}`
  const headers = { authorization: 'Bearer a token' }
  t.equal((await fetch(`${client.url}/metrics`, { headers })).status, 404, 'not beside the rest')
  t.equal((await fetch(`${own}/metrics`)).status, 401)
  t.equal((await fetch(`${own}/metrics`, { headers: { authorization: 'Bearer another' } })).status, 401)
  const numbers = await fetch(`${own}/metrics`, { headers })
  t.equal(numbers.status, 200)
  t.match(await numbers.text(), /^tollgate_http_requests_total/m)
  for (const path of ['/companies', '/health/ready', '/openapi.json']) {
    const answer = await fetch(`${own}${path}`, {
      headers: { ...headers, 'x-service-api-key': client.key },
    }).then(
      ({ status }) => status,
      () => 'closed',
    )
    t.ok(answer === 404 || answer === 'closed', `${path}: ${answer}`)
  }
  await tollgate.stop()
  await t.rejects(fetch(`${own}/metrics`, { headers }), 'it ends with the rest')
})
