// Nonsense over real connections: nothing a caller sends ends the process, leaks into the next request, or is our fault.

import t from 'tap'
import typia from 'typia'
import { get, post } from '../../../src/front/http/routing/route.js'
import type { Handler, RawBody } from '../../../src/kit/call.js'
import { list, mapOrBare, page, type QueryShape, query } from '../../../src/kit/query.js'
import { seed } from '../../random.js'
import { ask, dial, hear, secretOf, start } from './make.js'

interface Thing {
  name: string
  more?: Record<string, unknown>
}
const parseThing = typia.json.createValidateParse<Thing>()
const anyQuery = query({ ...page, ids: list, keys: mapOrBare })
type AnyQuery = typeof anyQuery extends QueryShape<infer Q> ? Q : never

const echoQuery: Handler<undefined, AnyQuery> = call => ({ data: [call.query, call.params] })
const echoBody: Handler<Thing> = call => ({ data: call.body })
const length: Handler<RawBody> = async call => ({ data: call.body.text().length })
const routes = [
  get('/q/:id', { scope: 'read', query: anyQuery, handle: echoQuery }),
  post('/b', { scope: 'write', body: parseThing, handle: echoBody }),
  post('/r', { scope: 'capture', limit: 'ingest', raw: 'one', handle: length }),
]

const random = mulberry(seed)
const below = (bound: number) => Math.floor(random() * bound)
const pick = <T>(from: readonly T[]): T => from[below(from.length)]!
const many = (count: number, make: () => string) => Array.from({ length: below(count) }, make).join('')

const odd = [
  '%',
  '%0',
  '%00',
  '%zz',
  '%C3',
  '%F0%9F%98%80',
  '+',
  '&',
  '=',
  '[',
  ']',
  '{',
  '}',
  '"',
  "'",
  '\\',
  '..',
  '~',
  'a',
  '9',
  ',',
  '%2F',
  '%5B',
  '%7B%22a%22%3A1%7D',
]
const piecesOfJson = [
  '{',
  '}',
  '[',
  ']',
  ':',
  ',',
  '"',
  '\\',
  '\\u0000',
  '\\ud800',
  'null',
  '1e999',
  '-0',
  '9007199254740993',
  '"name"',
  '"__proto__"',
  '"constructor"',
  '"x"',
  ' ',
  '\u0000',
  'é',
  '\ufffd',
]

t.test(`seed ${seed}`, async t => {
  const { server, port } = await start(routes)
  t.teardown(() => server.close())
  const key = secretOf.development

  await t.test('paths and queries', async t => {
    const asked = Array.from({ length: 600 }, async () => {
      const path = `/q/${many(6, () => pick(odd.filter(piece => !'"{}\\'.includes(piece))))}`
      const given = many(12, () => pick(['ids', 'keys', 'limit', 'offset', ...odd])).replaceAll(
        /["{}\\]/g,
        '',
      )
      const { status, json } = await ask(port, { path: `${path}?${given}`, key })
      return {
        status,
        wellFormed: status === 200 ? 'params' in json : typeof json.error === 'string',
        path,
        given,
      }
    })
    for (const { status, wellFormed, path, given } of await Promise.all(asked)) {
      if (![200, 400, 404].includes(status) || !wellFormed) t.fail(`${status} for ${path}?${given}`)
    }
  })

  await t.test('bodies', async t => {
    const asked = Array.from({ length: 600 }, async () => {
      const valid = JSON.stringify({ name: 'a', more: { x: [1, { y: null }] } })
      const body = random() < 0.5 ? many(30, () => pick(piecesOfJson)) : mutate(valid, piecesOfJson)
      const headers: Record<string, string> = random() < 0.1 ? { 'content-encoding': 'gzip' } : {}
      const path = pick(['/b', '/b', '/r'])
      const { status, json } = await ask(port, { method: 'POST', path, key, body, headers })
      return { status, wellFormed: status === 200 ? 'params' in json : typeof json.error === 'string', body }
    })
    for (const { status, wellFormed, body } of await Promise.all(asked)) {
      if (![200, 400].includes(status) || !wellFormed) t.fail(`${status} for ${JSON.stringify(body)}`)
    }
  })

  await t.test('whole requests, byte by byte', async t => {
    const head = `POST /b HTTP/1.1\r\nHost: a\r\nX-Service-Api-Key: ${key}\r\nContent-Length: 12\r\n\r\n{"name":"a"}`
    const bits = [
      '\r',
      '\n',
      '\r\n',
      ' ',
      ':',
      '\0',
      'HTTP/1.1',
      'Content-Length: 3\r\n',
      'Transfer-Encoding: chunked\r\n',
      '0\r\n\r\n',
      'Expect: 100-continue\r\n',
      '-1',
      'é',
    ]
    const sent = Array.from({ length: 300 }, async () => {
      const socket = await dial(port)
      socket.write(Buffer.from(mutate(head, bits), 'latin1'))
      const { text } = await hear(socket, 40)
      socket.destroy()
      // 505 is the parser's word for what is no HTTP/1.1; it never reaches us.
      const status = /^HTTP\/1\.1 (\d+)/.exec(text)?.[1]
      if (status !== undefined && !['100', '200', '400', '401', '404', '505'].includes(status))
        t.fail(text.slice(0, 80))
    })
    await Promise.all(sent)
  })

  await t.test('and it still answers', async t => {
    const { status, json } = await ask(port, { method: 'POST', path: '/b', key, body: '{"name":"a"}' })
    t.same([status, json], [200, { data: { name: 'a' }, params: {} }])
    t.equal(({} as Record<string, unknown>).x, undefined)
  })
})

// One to three places replaced, doubled, or cut.
function mutate(text: string, bits: readonly string[]): string {
  let mutated = text
  for (let i = below(3); i >= 0; i--) {
    const at = below(mutated.length)
    const skip = pick([0, 1, 5])
    mutated = mutated.slice(0, at) + pick(['', ...bits]) + mutated.slice(at + skip)
  }
  return mutated
}

// A small seeded generator, so that a run can be had again.
function mulberry(start: number): () => number {
  let state = start
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
