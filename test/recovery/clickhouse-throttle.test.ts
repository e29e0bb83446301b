// When a store gives way to requests, on a process whose threads' scheduling Linux tells.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { IdlePriority } from '../../src/host/thread-priority.js'
import { Yielding } from '../../src/recovery/clickhouse-throttle.js'

const probe = IdlePriority.open()
const skip = probe === null ? 'takes Linux, chrt and CAP_SYS_NICE' : false
void probe?.close()

const idle = 5

/** How Linux schedules each thread of a process: 0 as others, 5 when nobody else wants the core. */
const policies = (pid: number): number[] =>
  readdirSync(`/proc/${pid}/task`).map(thread => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[38])
  })

async function child(t: Test): Promise<ChildProcess> {
  const made = spawn(process.execPath, ['-e', 'console.log("up"); setInterval(() => {}, 1000)'])
  t.teardown(() => made.kill('SIGKILL'))
  // its threads are there once its script runs; one made while priorities change may miss the change
  await once(made.stdout, 'data')
  return made
}

async function becomes(pid: number, policy: number): Promise<boolean> {
  for (let tries = 0; tries < 500; tries++) {
    if (policies(pid).every(one => one === policy)) return true
    await sleep(10)
  }
  return false
}

t.test('every thread of a process stands by, and does not any more', { skip }, async t => {
  const standby = IdlePriority.open()!
  const { pid } = await child(t)
  standby.set(pid!, true)
  t.ok(await becomes(pid!, idle))
  standby.set(pid!, false)
  t.ok(await becomes(pid!, 0))
  standby.set(999_999_999, true)
  standby.set(pid!, true)
  await standby.close()
  t.ok(
    policies(pid!).every(one => one === idle),
    'what was asked for is done before it is closed',
  )
  await standby.close()
})

t.test('it gives way while it keeps up and nobody asks it anything', { skip }, async t => {
  let { pid } = await child(t)
  let behind = 0
  const yielding = new Yielding({
    standby: IdlePriority.open()!,
    pid: () => pid!,
    behind: () => behind,
    lookMs: 20,
    quietMs: 200,
  })
  t.notOk(yielding.yields, 'not before it was seen to keep up')
  /** Until one that begins now, and that nobody asks anything, gives way. */
  const quietTime = async () => {
    const other = new Yielding({
      standby: IdlePriority.open()!,
      pid: () => null,
      behind: () => 0,
      lookMs: 20,
      quietMs: 200,
    })
    while (!other.yields) await sleep(10)
    await other.stop()
  }
  t.ok(await becomes(pid!, idle))
  t.ok(yielding.yields)

  behind = 4.5
  t.ok(await becomes(pid!, 0), 'US-51 what it tells gets too old')
  t.notOk(yielding.yields)
  await quietTime()
  t.notOk(yielding.yields, 'as long as it is behind')
  behind = 1
  t.ok(await becomes(pid!, idle))

  yielding.asked(1)
  t.notOk(yielding.yields, 'at once')
  t.ok(await becomes(pid!, 0))
  yielding.asked(1)
  yielding.asked(-1)
  await quietTime()
  t.notOk(yielding.yields, 'another still waits for its answer')
  yielding.asked(-1)
  t.ok(await becomes(pid!, idle))

  pid = (await child(t)).pid
  t.ok(await becomes(pid!, idle), 'the process that took its place')

  await yielding.stop()
  t.ok(
    policies(pid!).every(one => one === 0),
    'it has its share again before this ends',
  )
  await quietTime()
  t.notOk(yielding.yields)
})

t.test('where chrt is not found nothing is changed', async t => {
  t.equal(IdlePriority.open('/nowhere/chrt'), null)
})
