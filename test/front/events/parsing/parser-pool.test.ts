// Threads that read large bodies: started when there is work, bounded, replaced when they die. Threads here are made up.
import { EventEmitter } from 'node:events'
import t, { type Test } from 'tap'
import type { StartThread, Thread } from '../../../../src/entities/shards/thread.js'
import { type ParseJob, type ParseReply, parseBody } from '../../../../src/events/parsing.js'
import { Parsers } from '../../../../src/front/events/parsing/parser-pool.js'
import { createMetrics } from '../../../../src/metrics.js'
import type { Port } from '../../../../src/wire/port.js'
import { silent } from '../../../stores.js'

/** A thread that answers when told to. */
class Made extends EventEmitter implements Thread {
  readonly jobs: ParseJob[] = []
  readonly port: Port
  readonly ended: Promise<void>
  unheard: unknown[] = []
  die: (error: Error) => void = () => {}

  constructor() {
    super()
    const port = {
      postMessage: (job: ParseJob) => void this.jobs.push(job),
      on: this.on.bind(this),
      close() {},
    }
    this.port = port as unknown as Port
    this.ended = new Promise((_, reject) => {
      this.die = reject
    })
  }

  answer(): void {
    this.emit('message', parseBody(this.jobs.shift()!))
  }

  rest(): readonly unknown[] {
    return this.unheard
  }

  closed = false
  async close(): Promise<void> {
    this.closed = true
  }
  async destroy(): Promise<void> {}
}

function open(t: Test, threads = 1, bytesMax = 1_000, idleMs?: number) {
  const made: Made[] = []
  const startThread: StartThread = () => {
    const thread = new Made()
    made.push(thread)
    return thread
  }
  const metrics = createMetrics().largeBodies
  const options = {
    workerFile: new URL('file:///parse.js'),
    threads,
    shards: 1,
    bytesMax,
    log: silent,
    metrics,
    ...(idleMs === undefined ? {} : { idleMs }),
  }
  const parsers = new Parsers({ ...options, startThread })
  t.teardown(() => parsers.close())
  return { parsers, made, metrics }
}

const job = (text = '{"events":[]}'): ParseJob => ({
  bytes: new Uint8Array(Buffer.from(text)),
  format: 'events',
  speaker: { secret: true, nowMs: 0 },
})
const soon = () => new Promise(resolve => setImmediate(resolve))
const empty: ParseReply = { groups: [{ group: 0, count: 0, keyed: 0, at: null, subBatches: [] }] }

t.test('a thread starts with the first body, and there are no more than allowed', async t => {
  const { parsers, made, metrics } = open(t, 2)
  t.equal(made.length, 0)
  const replies = [parsers.parse(job()), parsers.parse(job()), parsers.parse(job('{"events":[7]}'))]
  t.equal(made.length, 2)
  t.equal(made[0]!.jobs.length, 1, 'one body at a time')
  made[0]!.answer()
  t.strictSame(await replies[0], empty)
  t.equal(made[0]!.jobs.length, 1, 'the next, without waiting for the other thread')
  made[0]!.answer()
  made[1]!.answer()
  t.match(await replies[2], { groups: [{ count: 1 }] })
  await replies[1]
  t.equal(metrics.parsed.count, 3)
})

t.test('a thread that dies costs the body it was reading alone', async t => {
  const { parsers, made, metrics } = open(t)
  const [lost, next] = [parsers.parse(job()), parsers.parse(job())]
  made[0]!.die(new Error('out of memory'))
  await t.rejects(lost, { code: 'overloaded' })
  t.equal(made.length, 2, 'another was started for what waits')
  made[1]!.answer()
  t.strictSame(await next, empty)
  t.equal(metrics.lost.count, 1)
})

t.test('answers that a thread sent before it died are received', async t => {
  const { parsers, made, metrics } = open(t)
  const reply = parsers.parse(job())
  made[0]!.unheard = [empty]
  made[0]!.die(new Error('late'))
  t.strictSame(await reply, empty)
  t.equal(metrics.lost.count, 0)
})

t.test('a thread without a body for some time ends, and the next body starts another', async t => {
  const { parsers, made } = open(t, 1, 1_000, 20)
  const first = parsers.parse(job())
  made[0]!.answer()
  await first
  while (!made[0]!.closed) await new Promise(resolve => setTimeout(resolve, 5))
  made[0]!.die(new Error('its port was closed'))
  await soon()
  const next = parsers.parse(job())
  t.equal(made.length, 2)
  made[1]!.answer()
  t.strictSame(await next, empty)
})

t.test('a thread that reads for long does not end', async t => {
  const { parsers, made } = open(t, 1, 1_000, 20)
  const first = parsers.parse(job())
  made[0]!.answer()
  await first
  const second = parsers.parse(job())
  await new Promise(resolve => setTimeout(resolve, 60))
  t.notOk(made[0]!.closed)
  made[0]!.answer()
  t.strictSame(await second, empty)
})

t.test('bodies are bounded in bytes together', async t => {
  const { parsers, metrics } = open(t, 1, 1_000)
  let end = () => {}
  const held = parsers.hold('a', 900, () => new Promise<void>(resolve => (end = resolve)))
  t.equal(parsers.held, 900)
  await t.rejects(
    parsers.hold('b', 101, async () => {}),
    { code: 'overloaded' },
  )
  t.equal(metrics.refused.count, 1)
  t.equal(await parsers.hold('b', 100, async () => 7), 7)
  end()
  await held
  await t.rejects(
    parsers.hold('a', 1_000, () => Promise.reject(new Error('broken'))),
    /broken/,
  )
  t.equal(parsers.held, 0)
})

t.test('bodies take turns; a caller that left loses its turn', async t => {
  const { parsers, metrics } = open(t)
  const ends: (() => void)[] = []
  const begun: number[] = []
  const work = (n: number) => () => {
    begun.push(n)
    return new Promise<number>(resolve => ends.push(() => resolve(n)))
  }
  let gone = false
  const turns = [1, 2, 3, 4, 5].map(n => parsers.inTurn('a', () => n === 4 && gone, work(n)))
  await soon()
  t.same(begun, [1, 2], 'a few at a time')
  gone = true
  ends[0]!()
  await soon()
  t.same(begun, [1, 2, 3])
  ends[1]!()
  await soon()
  t.same(begun, [1, 2, 3, 5])
  t.equal(metrics.left.count, 1)
  for (const end of ends) end()
  t.same(await Promise.all(turns), [1, 2, 3, null, 5])
})

t.test('security 5: the bodies of another environment wait for no queue', async t => {
  const { parsers } = open(t)
  const ends: (() => void)[] = []
  const begun: string[] = []
  const take = (group: string) =>
    parsers.inTurn(
      group,
      () => false,
      () => {
        begun.push(group)
        return new Promise<void>(resolve => ends.push(resolve))
      },
    )
  const all = [take('a'), take('a'), take('a'), take('a'), take('b')]
  await soon()
  t.same(begun, ['a', 'a', 'b'], 'a place is left for whoever comes next')
  all.push(take('b'), take('b'))
  for (let n = 0; n < 4; n++) {
    ends[n]!()
    await soon()
  }
  t.same(begun.slice(3).sort(), ['a', 'a', 'b', 'b'], 'and then they take turns')
  for (const end of ends) end()
  await Promise.all(all)
})

t.test('a turn is given back when the work fails', async t => {
  const { parsers } = open(t)
  const never = () => false
  for (let n = 0; n < 10; n++)
    await t.rejects(
      parsers.inTurn('a', never, () => Promise.reject(new Error('broken'))),
      /broken/,
    )
})

t.test('closing: the body being read is refused', async t => {
  const { parsers } = open(t)
  const [reading, waiting] = [parsers.parse(job()), parsers.parse(job())]
  const refused = [t.rejects(reading, { code: 'starting' }), t.rejects(waiting, { code: 'starting' })]
  await parsers.close()
  await Promise.all(refused)
  await t.rejects(parsers.parse(job()), { code: 'starting' })
})
