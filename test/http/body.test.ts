// Bodies: bounds (decision 2), compression, depth, U+0000, and what a refusal says (AL-32).
import { gzipSync } from 'node:zlib'
import { array, assert, constantFrom, property } from 'fast-check'
import t from 'tap'
import typia, { type tags } from 'typia'
import type { Handler, RawBody } from '../../src/api/call.js'
import {
  assertPlain,
  batchBytesMax,
  bodyBytesMax,
  decompress,
  depthMax,
  encodingOf,
  hasNul,
  parseBody,
  rawBody,
  tooDeep,
} from '../../src/http/body.js'
import { post } from '../../src/http/route.js'

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
  t.throws(() => parseBody('', parse), /^name is required \(/)
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
  t.equal(told('{"name":"a","kind":"secret-value"}'), 'kind: expected "add_on" | "plan" | undefined')
  t.match(told('{"name":"a","count":-1}'), /^count: expected .*uint32/)
  t.match(told('{"name":"a","keys":{"id":7}}'), /^keys\.id: expected string/)
  t.match(told('[]'), /^(body|name)/)
  t.match(told('{"name":"'), /not valid JSON/)
  t.ok(told(`{"name":"a","keys":{"${'k'.repeat(5_000)}":7}}`).length < 500)
})

t.test('a body nests to a bound and no further', async t => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  t.doesNotThrow(() => assertPlain(nested(depthMax)))
  t.throws(() => assertPlain(nested(depthMax + 1)), /nested deeper than 64/)
  t.throws(() => assertPlain(`{"a":${'{"a":'.repeat(500_000)}`), /nested deeper/)
  t.doesNotThrow(() => assertPlain(JSON.stringify(Array.from({ length: 500 }, () => [{}]))))
  t.doesNotThrow(() => assertPlain(JSON.stringify({ text: '[{'.repeat(500) })), 'brackets in text are text')
})

t.test('depth is counted as a plain reading counts it', async t => {
  const seed = Number(process.env.TOLLGATE_SEED ?? Date.now() % 2 ** 31)
  const piece = constantFrom('[', '{', ']', '}', '"', '\\', '\\"', 'a', '"a"', '"[\\""')
  const law = property(array(piece, { minLength: 8, maxLength: 60 }), pieces => {
    const text = pieces.join('')
    return tooDeep(text, 4) === slowlyTooDeep(text, 4)
  })
  t.doesNotThrow(() => assert(law, { seed, numRuns: 5_000 }), `seed ${seed}`)
})

t.test('an escaped U+0000 is found, an escaped backslash before u0000 is not one', async t => {
  t.ok(hasNul('{"a":"\\u0000"}'))
  t.notOk(hasNul('{"a":"\\\\u0000"}'))
  t.ok(hasNul('{"a":"\\\\u0000 \\u0000"}'))
  t.ok(hasNul('{"a":"\\\\\\u0000"}'))
  t.throws(() => parseBody('{"name":"\\u0000"}', parse), /U\+0000/)
})

t.test('members named __proto__ are data', async t => {
  const thing = parseBody('{"name":"a","keys":{"__proto__":"x"},"__proto__":{"kind":"plan"}}', parse)
  t.same(Object.keys(thing.keys ?? {}), ['__proto__'])
  t.equal(thing.kind, undefined)
  t.equal(({} as Thing).kind, undefined)
})

t.test('decision 2: gzip is accepted within the same bound as plain bodies', async t => {
  t.equal((await decompress(gzipSync('{"a":1}'), ordinary)).toString(), '{"a":1}')
  t.equal((await decompress(gzipSync(Buffer.alloc(bodyBytesMax)), ordinary)).length, bodyBytesMax)
  await t.rejects(decompress(gzipSync(Buffer.alloc(bodyBytesMax + 1)), ordinary), /larger than 1048576 bytes/)
  await t.rejects(
    decompress(gzipSync(Buffer.alloc(batchBytesMax + 1)), batch),
    /at most 10000 events and 8388608 bytes/,
  )
  await t.rejects(decompress(Buffer.from('not gzip'), ordinary), /not valid gzip/)
  await t.rejects(decompress(gzipSync('{"a":1}').subarray(0, 12), ordinary), /not valid gzip/)
})

t.test('only gzip is read', async t => {
  t.equal(encodingOf(''), 'identity')
  t.equal(encodingOf('identity'), 'identity')
  t.equal(encodingOf(' GZIP '), 'gzip')
  for (const other of ['br', 'deflate', 'gzip, gzip']) t.match(encodingOf(other), { status: 400 })
})

t.test('a raw body is decoded once', async t => {
  const body = rawBody(Buffer.from('{"a":"ü"}'))
  t.equal(body.text(), '{"a":"ü"}')
  t.equal(body.bytes.length, 10)
})

// The same question, one character after the other.
function slowlyTooDeep(text: string, max: number): boolean {
  let depth = 0
  let inText = false
  for (let i = 0; i < text.length; i++) {
    const character = text[i]!
    if (inText && character === '\\') i++
    else if (character === '"') inText = !inText
    else if (!inText && '[{'.includes(character) && ++depth > max) return true
    else if (!inText && ']}'.includes(character)) depth--
  }
  return false
}
