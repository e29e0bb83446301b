// Bounds of connections of the data stream: what one of them may hold that reads nothing, and how much it may ask for.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { startHere } from '../harness.js'
import { StreamClient } from '../stream-client.js'
import { makeFlag } from './flags.js'

t.setTimeout(180_000)

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
const waiting = (): number =>
  (
    tollgate.services.streams as unknown as { environments: Map<string, { waitingBytes: number }> }
  ).environments.get(environmentId)?.waitingBytes ?? 0

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
