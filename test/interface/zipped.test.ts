// S12 Long answers of reads are compressed for callers who take gzip; checks and short answers never are.
import { request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { takesGzip } from '../../src/front/http/request/zipped.js'
import { startHere } from '../harness.js'

interface Told {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly bytes: Buffer
}

/** One request whose answer is not decompressed on the way, as fetch would. */
function send(url: string, key: string, encoding: string, method = 'GET', body?: string): Promise<Told> {
  return new Promise((resolve, reject) => {
    const headers = { 'X-Service-Api-Key': key, ...(encoding && { 'Accept-Encoding': encoding }) }
    const asked = request(url, { method, headers }, answer => {
      const pieces: Buffer[] = []
      answer.on('data', (piece: Buffer) => pieces.push(piece))
      answer.on('end', () =>
        resolve({ status: answer.statusCode!, headers: answer.headers, bytes: Buffer.concat(pieces) }),
      )
    })
    asked.on('error', reject)
    asked.end(body)
  })
}

t.test('which callers take gzip', async t => {
  for (const yes of ['gzip', 'br, gzip', 'deflate, GZIP;q=0.5', '*', 'x-gzip', 'br;q=1, *;q=0.1'])
    t.equal(takesGzip(yes), true, yes)
  for (const no of ['', 'br', 'identity', 'gzip;q=0', 'gzip; q=0.0', '*;q=0', 'gzip;q=0, *'])
    t.equal(takesGzip(no), false, no)
})

for (const native of [true, false])
  t.test(native ? 'the native server' : "Node's server", async t => {
    const settings: Record<string, string> = native ? {} : { TOLLGATE_HTTP: 'node' }
    const { client } = await startHere(t, settings)
    const traits = { note: 'words that come again and again '.repeat(8) }
    await Promise.all(
      Array.from({ length: 100 }, (_, i) => client.ok('POST', '/companies', { keys: { n: `${i}` }, traits })),
    )
    const ask = (path: string, encoding: string, method?: string, body?: string) =>
      send(client.url + path, client.key, encoding, method, body)

    const plain = await ask('/companies?limit=100', '')
    t.equal(plain.headers['content-encoding'], undefined)
    t.equal(plain.headers.vary, 'Accept-Encoding')
    const small = await ask('/companies?limit=100', 'br, gzip')
    t.equal(small.headers['content-encoding'], 'gzip')
    t.equal(small.headers.vary, 'Accept-Encoding')
    t.ok(small.bytes.length * 5 < plain.bytes.length, `${plain.bytes.length} → ${small.bytes.length}`)
    const told = (bytes: Buffer) => JSON.parse(bytes.toString()) as { data: { id: string }[] }
    t.same(told(gunzipSync(small.bytes)).data.length, 100)
    t.same(
      told(gunzipSync(small.bytes)).data.map(one => one.id),
      told(plain.bytes).data.map(one => one.id),
    )
    const all = await Promise.all(Array.from({ length: 60 }, () => ask('/companies?limit=100', 'gzip')))
    for (const { status, headers, bytes } of all) {
      const text = headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes
      t.equal(status, 200)
      t.equal(told(text).data.length, 100, 'many at once: compressed or not, each is whole')
    }
    const short = await ask('/companies/count', 'gzip')
    t.equal(short.headers['content-encoding'], undefined, 'a short answer is left as it is')
    const check = await ask('/flags/check', 'gzip', 'POST', '{"company":{"n":"1"}}')
    t.equal(check.headers['content-encoding'], undefined)
    t.equal(check.headers.vary, undefined, 'checks do not look')
    const wrong = await ask('/companies?limit=0', 'gzip')
    t.equal(wrong.status, 400)
    t.equal(wrong.headers['content-encoding'], undefined)
    const head = await ask('/companies?limit=100', 'gzip', 'HEAD')
    t.equal(head.status, 200)
    const [first, again] = await Promise.all([ask('/openapi.json', 'gzip'), ask('/llms.txt', 'gzip')])
    t.equal(first.headers['content-encoding'], 'gzip')
    t.equal(again.status, 200)
  })
