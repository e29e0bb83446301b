// Bodies: bounds (decision 2), compression, and what a refusal says (AL-32).
import { gzipSync } from 'node:zlib'
import t from 'tap'
import typia, { type tags } from 'typia'
import {
  batchBytesMax,
  bodyBytesMax,
  decompress,
  encodingOf,
  parseBody,
  rawBody,
} from '../../../../src/front/http/request/parse-body.js'
import { post } from '../../../../src/front/http/routing/route.js'
import type { Handler, RawBody } from '../../../../src/kit/call.js'

interface Thing {
  name: string & tags.MinLength<1>
  kind?: 'plan' | 'add_on'
  count?: (number & tags.Type<'uint32'>) | null
  keys?: Record<string, string>
}
const parse = typia.json.createValidateParse<Thing>()
const rawHandler: Handler<RawBody> = () => ({})
const ordinary = post('/one', { scope: 'capture', raw: 'one', handle: rawHandler })
const batch = post('/many', { scope: 'capture', raw: 'batch', handle: rawHandler })

t.test('AL-32 unknown members are ignored; an empty body is an object without members', async t => {
  t.match(parseBody('{"name":"a","colour":"red"}', parse), { name: 'a' })
  t.throws(() => parseBody('', parse), /^name is required: a text/)
})

t.test('AL-32 a refusal names the member and what it should be, never what it was', async t => {
  const told = (text: string) => {
    try {
      parseBody(text, parse)
    } catch (error) {
      return (error as Error).message
    }
    return ''
  }
  t.equal(told('{"name":"a","kind":"secret-value"}'), 'kind: expected one of "add_on", "plan", got a text')
  t.match(
    told('{"name":"a","count":-1}'),
    /^count: expected a whole number of at least 0, got the number -1$/,
  )
  t.match(told('{"name":"a","keys":{"id":7}}'), /^keys\.id: expected a text, got the number 7$/)
  t.match(told('[]'), /^(body|name)/)
  t.match(told('{"name":"'), /not valid JSON/)
  t.ok(told(`{"name":"a","keys":{"${'k'.repeat(5_000)}":7}}`).length < 500)
})

t.test('members named __proto__ are data', async t => {
  const thing = parseBody('{"name":"a","keys":{"__proto__":"x"},"__proto__":{"kind":"plan"}}', parse)
  t.same(Object.keys(thing.keys ?? {}), ['__proto__'])
  t.equal(thing.kind, undefined)
  t.equal(({} as Thing).kind, undefined)
})

t.test('decision 2: gzip is accepted within the same bound as plain bodies', async t => {
  t.equal((await decompress(gzipSync('{"a":1}'), ordinary, 'a')).toString(), '{"a":1}')
  t.equal((await decompress(gzipSync(Buffer.alloc(bodyBytesMax)), ordinary, 'a')).length, bodyBytesMax)
  await t.rejects(
    decompress(gzipSync(Buffer.alloc(bodyBytesMax + 1)), ordinary, 'a'),
    /larger than 1048576 bytes/,
  )
  await t.rejects(
    decompress(gzipSync(Buffer.alloc(batchBytesMax + 1)), batch, 'a'),
    /at most 10000 events and 8388608 bytes/,
  )
  await t.rejects(decompress(Buffer.from('not gzip'), ordinary, 'a'), /not valid gzip/)
  await t.rejects(decompress(gzipSync('{"a":1}').subarray(0, 12), ordinary, 'a'), /not valid gzip/)
})

t.test('many compressed bodies at once all have their turn', async t => {
  const bodies = Array.from({ length: 40 }, (_, i) =>
    i % 3 === 0 ? Buffer.from('not gzip') : gzipSync(`${i}`),
  )
  const settled = await Promise.allSettled(bodies.map(bytes => decompress(bytes, ordinary, 'a')))
  for (const [i, result] of settled.entries()) {
    if (i % 3 === 0) t.equal(result.status, 'rejected')
    else t.equal(result.status === 'fulfilled' && result.value.toString(), `${i}`)
  }
})

t.test(
  'security 5: an environment with one compressed body does not wait for the queue of another',
  async t => {
    const large = gzipSync(Buffer.alloc(bodyBytesMax, 'x'))
    const done: string[] = []
    const read = (group: string) => decompress(large, ordinary, group).then(() => done.push(group))
    await Promise.all([...Array.from({ length: 30 }, () => read('a')), read('b')])
    t.ok(done.indexOf('b') < 15, `b came as number ${done.indexOf('b')} of 31`)
  },
)

t.test('only gzip is read', async t => {
  t.equal(encodingOf(''), 'identity')
  t.equal(encodingOf('identity'), 'identity')
  t.equal(encodingOf(' GZIP '), 'gzip')
  for (const other of ['br', 'deflate', 'gzip, gzip']) t.match(encodingOf(other), { status: 400 })
})

t.test('a raw body is decoded once', async t => {
  const body = rawBody(Buffer.from('{"a":"ü"}'))
  t.equal(body.text(), '{"a":"ü"}')
  t.equal(body.byteLength, 10)
})
