// Bounds of connections of the data stream: what one of them may hold that reads nothing, and how much it may ask for.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { ByteShares } from '../../src/turns/byte-shares.js'
import { startHere } from '../harness.js'
import { StreamClient } from '../stream-client.js'
import { makeFlag } from './flags.js'

t.setTimeout(300_000)

const company = 'rulesengine.Company'
const bufferBytes = 65_536
const { client, tollgate } = await startHere(t, {
  TOLLGATE_STREAM_MESSAGES_PER_SECOND: '400',
  TOLLGATE_STREAM_BUFFER_BYTES: String(bufferBytes),
})
const { environment_id: environmentId } = await client.ok('GET', '/whoami')

async function open(): Promise<StreamClient> {
  const stream = await StreamClient.open(client.url, { protocols: ['tollgate'] })
  t.teardown(() => stream.ws.terminate())
  return stream
}

/** Bytes that wait for connections of the environment. */
const waiting = (): number => tollgate.services.streams.waitingIn(environmentId)

/** Ask on a connection that reads nothing, until bytes wait here: the kernel takes some megabytes before. */
async function fill(stream: StreamClient): Promise<void> {
  stream.ws.pause()
  const untilMs = performance.now() + 30_000
  while (performance.now() < untilMs) {
    for (let n = 0; n < 100 && waiting() < bufferBytes; n++) {
      stream.ask('rulesengine.Flags')
      await sleep(4)
    }
    // what is on its way to another front counts as well, and is soon gone
    await sleep(300)
    if (waiting() >= bufferBytes) return
  }
  throw new Error(`${waiting()} bytes wait`)
}

t.test('security H1 a question that is asked again and again waits for one answer', async t => {
  for (let n = 0; n < 30; n++) await makeFlag(client, `flag-${n}`, false)
  const stream = await open()
  stream.ask('rulesengine.Flags')
  const first = await stream.of('rulesengine.Flags', 'full')
  const bytes = JSON.stringify(first).length
  stream.ws.pause()
  const asked = 3_000
  let top = 0
  for (let n = 0; n < asked; n++) {
    stream.ask('rulesengine.Flags')
    if (n % 100 === 0) await sleep(1)
    top = Math.max(top, waiting())
  }
  for (let n = 0; n < 20; n++) {
    await sleep(50)
    top = Math.max(top, waiting())
  }
  t.ok(asked * bytes > 50 * bufferBytes, `${asked} answers of ${bytes} bytes would fill any buffer`)
  t.ok(top <= bufferBytes + 2 * bytes, `${top} bytes waited`)
  stream.ws.terminate()
})

t.test('security H1 pings, errors and their keys are bounded as well', async t => {
  const stream = await open()
  const note = 'x'.repeat(2_000)
  stream.ask(company, { slug: note })
  const long = await stream.next()
  t.match(long, { message_type: 'error', data: { error: 'Company not found' } })
  t.notOk('keys' in long.data, 'long keys are not given back')
  stream.ask(company, { slug: 'short' })
  t.match(await stream.next(), { data: { keys: { slug: 'short' } } }, 'short ones are')
  stream.ws.pause()
  let top = 0
  for (let n = 0; n < 3_000; n++) {
    if (n % 2 === 0) stream.ask(company, { slug: 'y'.repeat(900) + n })
    else stream.ws.send('{"data":{"action":"ping"}}')
    if (n % 100 === 0) await sleep(1)
    top = Math.max(top, waiting())
  }
  for (let n = 0; n < 40; n++) {
    await sleep(50)
    top = Math.max(top, waiting())
  }
  t.ok(top <= bufferBytes + 4_096, `${top} bytes waited`)
  stream.ws.terminate()
})

t.test('security H2 lists of unknown keys are charged name by name', async t => {
  const stream = await open()
  const list = Array.from({ length: 1_000 }, (_, n) => ({ slug: `nobody-${n}` }))
  const { turns } = tollgate.services.streams
  const lists = 100
  for (let n = 0; n < lists; n++)
    stream.ws.send(JSON.stringify({ data: { entity_type: company, keys_list: list } }))
  const answers = () => stream.messages.length
  const begun = performance.now()
  while (answers() < 1_000) await sleep(20)
  t.equal((await client.send('GET', '/whoami')).status, 200)
  while (performance.now() - begun < 3_000) await sleep(50)
  const seconds = (performance.now() - begun) / 1_000
  // 400 messages a second stand for 8,000 names, ten times as many at once; a list of one key is two
  const most = (8_000 * (10 + seconds + 1)) / 2
  t.ok(answers() <= most, `${answers()} answers in ${seconds} s, at most ${most}`)
  t.ok(answers() < lists * list.length, 'the rest waits')
  t.ok(turns.size < 100, 'nothing of it is in the line of others')
  stream.ws.terminate()
})

t.test('security H1 pings are answered by the server itself: many of them close the connection', async t => {
  const stream = await open()
  stream.ws.pause()
  for (let n = 0; n < 40; n++) stream.ws.ping('x')
  await sleep(200)
  const unread = await open()
  unread.ws.pause()
  for (let n = 0; n < 5_000; n++) unread.ws.ping('x'.repeat(125))
  await sleep(500)
  unread.ws.resume()
  // Node's cuts it earlier
  t.ok([1008, 1006].includes((await unread.closed)[0]), 'the code of a connection that sends too many')
  stream.ws.resume()
  stream.ws.send('{"data":{"action":"ping"}}')
  t.match(await stream.next(), { message_type: 'pong' }, 'fewer are taken')
  stream.ws.terminate()
})

t.test('security H1 a message in very many pieces is bounded', async t => {
  const stream = await open()
  for (let n = 0; n < 5_000; n++) stream.ws.send('x', { fin: false, binary: false })
  stream.ws.send('', { fin: true, binary: false })
  const heard = await stream.next().catch(async () => (await stream.closed)[0])
  // the native server keeps the bytes alone
  if (typeof heard !== 'number') t.match(heard, { message_type: 'error' })
  else t.equal(heard, 1008)
  stream.ws.terminate()
})

t.test('security H1 empty messages take room, too', async t => {
  const stream = await open()
  const { take } = ByteShares.prototype
  let taken = 0
  ByteShares.prototype.take = function (group, count) {
    if (group === environmentId && count === 64) taken += count
    return take.call(this, group, count)
  }
  t.teardown(() => {
    ByteShares.prototype.take = take
  })
  for (let n = 0; n < 100; n++) stream.ws.send('')
  while (stream.messages.length === 0) await sleep(10)
  await sleep(100)
  t.equal(taken, 6_400)
  stream.ws.terminate()
})

t.test('security H1 a connection that was closed counts until its bytes are taken, or it is cut', async t => {
  const big = 40
  for (let n = 0; n < big; n++) await makeFlag(client, `large-${n}`, false)
  const stream = await open()
  await fill(stream)
  for (let n = 0; n < 5_000; n++) stream.ws.send('{"data":{"action":"ping"}}')
  await sleep(500)
  t.ok(waiting() >= bufferBytes, `${waiting()} bytes still count`)
  const endMs = performance.now() + 30_000
  while (waiting() > 0 && performance.now() < endMs) await sleep(50)
  t.equal(waiting(), 0, 'then it is cut')
  stream.ws.resume()
  t.equal((await stream.closed)[0], 1006)
})

t.test('security H1 a binary frame cuts a connection that has not read', async t => {
  const stream = await open()
  await fill(stream)
  stream.ws.send(Buffer.from([1]))
  const endMs = performance.now() + 10_000
  while (waiting() > 0 && performance.now() < endMs) await sleep(50)
  t.equal(waiting(), 0, 'its bytes do not count any more')
  stream.ws.resume()
  t.equal((await stream.closed)[0], 1006)
})

t.test('security H2 changes do not queue behind slow telling', async t => {
  const keys = { slug: 'told' }
  await client.ok('POST', '/companies', { keys })
  const streams = await Promise.all(Array.from({ length: 96 }, open))
  for (const stream of streams) stream.ask(company, keys)
  await Promise.all(streams.map(stream => stream.of(company, 'full')))
  const { turns } = tollgate.services.streams
  const endMs = performance.now() + 1_500
  const slow = () => {
    for (const untilMs = performance.now() + 2; performance.now() < untilMs; );
    if (performance.now() < endMs) turns.run(slow, environmentId)
  }
  // each part of a telling waits for so many of these
  for (let n = 0; n < 20; n++) turns.run(slow, environmentId)
  let top = 0
  for (let n = 0; performance.now() < endMs; n++) {
    await client.ok('POST', '/companies', { keys: { ...keys, n: `n${n}` } })
    top = Math.max(top, turns.size)
  }
  t.ok(top <= 20 + 12, `${top} pieces of work waited`)
  await client.ok('POST', '/companies', { keys: { ...keys, last: 'of all' } })
  for (const stream of [streams[0]!, streams[95]!])
    await stream.next(one => one.entity_type === company && JSON.stringify(one.data).includes('of all'))
  t.pass('the last change is told')
  for (const stream of streams) stream.ws.terminate()
})

t.test('security H2 what a key holds is told to another connection at the expense of the key', async t => {
  const { client: own, tollgate: other } = await startHere(t, { TOLLGATE_STREAM_MESSAGES_PER_SECOND: '10' })
  const named = 150
  for (let n = 0; n < named; n++) await own.ok('POST', '/companies', { keys: { slug: `c${n}` } })
  const connect = () => StreamClient.open(own.url)
  const first = await connect()
  const list = Array.from({ length: named }, (_, n) => ({ slug: `c${n}` }))
  first.ws.send(JSON.stringify({ data: { entity_type: company, keys_list: list } }))
  for (let n = 0; n < named; n++) await first.of(company, 'full')
  const { subscriptions } = other.services.streams as unknown as { subscriptions: { held: number } }
  t.equal(subscriptions.held, named)
  const begunMs = performance.now()
  const many = await Promise.all(Array.from({ length: 40 }, connect))
  await sleep(200)
  const seconds = (performance.now() - begunMs) / 1_000
  // 10 messages a second stand for 200 names, ten times as many at once
  const most = named + 200 * (10 + seconds + 1)
  t.ok(subscriptions.held <= most, `${subscriptions.held} subscriptions after ${seconds} s, at most ${most}`)
  for (const one of many.slice(2)) one.ws.terminate()
  const [last] = many
  await own.ok('POST', '/companies', { keys: { slug: 'c0', late: 'yes' } })
  await last!.next(one => one.entity_type === company && JSON.stringify(one.data).includes('yes'))
  t.pass('it hears of what it resumed')
  for (const one of [first, ...many]) one.ws.terminate()
  while (subscriptions.held > 0) await sleep(20)
  t.pass('nothing is left')
})

t.test('security H1 one environment’s waiting messages close no connection of another', async t => {
  const { environments } = await client.ok('GET', '/whoami')
  const elsewhere = environments.find((one: { id: string }) => one.id !== environmentId).id
  const { secret } = await client.ok('POST', '/api-keys', { name: 'elsewhere', environment_id: elsewhere })
  const other = await StreamClient.open(client.url, { key: secret, protocols: ['tollgate'] })
  let isClosed = false
  other.closed.then(() => {
    isClosed = true
  })
  const long = JSON.stringify({ data: { entity_type: company, keys: { slug: 'x'.repeat(260_000) } } })
  const many = await Promise.all(Array.from({ length: 12 }, open))
  for (const stream of many) for (let n = 0; n < 31; n++) stream.ws.send(long)
  for (let n = 0; n < 60; n++) {
    other.ask(company, { slug: `y${n}` })
    await sleep(20)
  }
  t.notOk(isClosed)
  for (const stream of [...many, other]) stream.ws.terminate()
})

t.test('security H1 one key leaves room for entities that another key subscribes to', async t => {
  const { client: own } = await startHere(t, { TOLLGATE_STREAM_ENTITIES_MAX: '8' })
  const { environment_id } = await own.ok('GET', '/whoami')
  const { secret } = await own.ok('POST', '/api-keys', { name: 'second', environment_id })
  for (let n = 0; n < 11; n++) await own.ok('POST', '/companies', { keys: { slug: `c${n}` } })
  const slugs = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, n) => ({ slug: `c${from + n}` }))
  /** Subscribe to companies, and count the ones that are told. */
  const subscribed = async (stream: StreamClient, list: readonly object[]) => {
    stream.ws.send(JSON.stringify({ data: { entity_type: company, keys_list: list } }))
    let told = 0
    for (const _ of list) {
      const one = await stream.next()
      if (one.message_type === 'full') told++
      else t.match(one.data.error, /companies and users/)
    }
    return told
  }
  const first = await StreamClient.open(own.url, { protocols: ['tollgate'] })
  t.equal(await subscribed(first, slugs(0, 8)), 6, 'three quarters')
  const second = await StreamClient.open(own.url, { key: secret, protocols: ['tollgate'] })
  t.equal(await subscribed(second, slugs(0, 6)), 6, 'what others hold takes no room')
  t.equal(await subscribed(second, slugs(8, 11)), 0, 'a key that holds six has its share')
  const { secret: third } = await own.ok('POST', '/api-keys', { name: 'third', environment_id })
  const last = await StreamClient.open(own.url, { key: third, protocols: ['tollgate'] })
  t.equal(await subscribed(last, slugs(8, 11)), 2, 'another key finds room, up to the bound')
  for (const stream of [first, second, last]) stream.ws.terminate()
})
