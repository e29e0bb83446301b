// kill -9 at any moment while two fronts take events with repeats: each key counts once, and what was acknowledged stays
// (promises 1 to 3, EV-25…28).
import t from 'tap'
import { chooseServer } from '../../src/front/http/apps/native.js'
import { Process } from '../harness.js'
import { Connections } from '../interface/connections.js'
import { makeFlag } from '../interface/flags.js'
import { Random, times } from '../random.js'
import { temporaryDirectory } from '../stores.js'

const skip = chooseServer('auto').native ? false : 'the native server does not load here'
const settings = { TOLLGATE_FRONTS: '2', TOLLGATE_SHARDS: '2', TOLLGATE_CHECKPOINT_INTERVAL_MS: '300' }
const slugs = ['c0', 'c1', 'c2', 'c3']
const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

t.test('a key counts once over fronts and kills', { skip }, async t => {
  const random = new Random()
  t.comment(`seed ${random.seed}`)
  const dataDir = await temporaryDirectory(t)
  let running = await Process.start(dataDir, settings)
  t.teardown(() => running.end('SIGTERM'))
  const portOf = () => Number(new URL(running.client.url).port)
  let connections = new Connections(portOf())
  await makeFlag(running.client, 'first', true)
  for (const slug of slugs) await running.client.ok('POST', '/companies', { keys: { slug } })

  /** The event that each key was acknowledged with. */
  const firsts = new Map<string, string>()
  const keys: { readonly key: string; readonly slug: string }[] = []
  const wrong: string[] = []
  let isSending = true
  let [answers, retries] = [0, 0]

  const send = async (on: number): Promise<void> => {
    const isBatch = random.chance(0.3)
    const chosen = Array.from({ length: isBatch ? 1 + random.below(60) : 1 }, () => {
      if (keys.length > 0 && random.chance(0.4)) return keys[Math.max(0, keys.length - 1 - random.below(80))]!
      const made = { key: `key-${keys.length}`, slug: slugs[keys.length % slugs.length]! }
      keys.push(made)
      return made
    })
    const events = chosen.map(({ key, slug }) => ({
      event_type: 'track',
      idempotency_key: key,
      body: { event: 'call', company: { slug } },
    }))
    // until it is acknowledged, on another connection each time
    for (let tries = 0; ; tries++) {
      const [path, body] = isBatch ? ['/event-batch', { events }] : ['/events', events[0]]
      const answer = await connections.send(on + 5 * tries, 'POST', path as string, body).catch(() => null)
      if (answer?.status === 201) {
        answers++
        const acks = isBatch ? answer.body.data.events : [answer.body.data]
        for (const [place, { key }] of chosen.entries()) {
          const { event_id, content_differs } = acks[place]
          if (content_differs === true || (firsts.has(key) && firsts.get(key) !== event_id))
            wrong.push(`${key}: ${firsts.get(key)} ${JSON.stringify(acks[place])}`)
          firsts.set(key, event_id)
        }
        return
      }
      if (answer !== null && answer.status !== 503)
        wrong.push(`${answer.status} ${JSON.stringify(answer.body)}`)
      retries++
      await pause(20)
    }
  }

  for (let round = 0; round < times(3); round++) {
    await connections.elsewhere()
    isSending = true
    const senders = Array.from({ length: 32 }, async (_, on) => {
      while (isSending) await send(on)
    })
    const afterMs = 100 + random.below(1_500)
    await pause(afterMs)
    await running.end('SIGKILL')
    connections.close()
    running = await Process.start(dataDir, settings)
    connections = new Connections(portOf())
    await pause(300)
    isSending = false
    await Promise.all(senders)
    t.comment(
      `round ${round}: killed after ${afterMs} ms; ${answers} answers, ${retries} retries, ${keys.length} keys`,
    )
    t.same(wrong, [])
    for (const [index, slug] of slugs.entries()) {
      const { metrics } = await running.client.ok('GET', `/companies/lookup?slug=${slug}`)
      const used = metrics.find((one: { period: string }) => one.period === 'all_time')?.value ?? 0
      const sent = keys.filter((_, i) => i % slugs.length === index).length
      t.equal(used, sent, `${slug}: each key once`)
    }
  }
  connections.close()
})
