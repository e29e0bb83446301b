// Threads and processes that stand behind others for a core, as Linux counts them.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { constants, getPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import { lowerProcess } from '../../src/host/thread-priority.js'
import { createLogger } from '../../src/log.js'
import { supervise } from '../../src/storage/embedded/supervise.js'

const skip = process.platform === 'linux' ? false : 'priorities of threads are counted on Linux alone'
const own = getPriority()

t.test('a thread gets a lower priority; the others of its process keep theirs', { skip }, async t => {
  const text = `
    const { parentPort } = require('node:worker_threads')
    const { basename } = require('node:path')
    import(${JSON.stringify(new URL('../../src/host/thread-priority.js', import.meta.url).href)}).then(({ lowerThread }) => {
      lowerThread(7)
      parentPort.postMessage(Number(basename(require('node:fs').readlinkSync('/proc/thread-self'))))
    })
    setInterval(() => {}, 1000)`
  const worker = new Worker(text, { eval: true })
  t.teardown(() => worker.terminate())
  const [thread] = await once(worker, 'message')
  t.not(thread, process.pid)
  t.equal(getPriority(thread), 7)
  t.equal(getPriority(process.pid), own)
})

t.test('a process gets a lower priority with all its threads', { skip }, async t => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
  t.teardown(() => child.kill('SIGKILL'))
  await once(child, 'spawn')
  const threads = () => readdirSync(`/proc/${child.pid}/task`)
  while (threads().length < 5) await sleep(10)
  lowerProcess(child.pid!, 7)
  for (const thread of threads()) t.equal(getPriority(Number(thread)), 7)
})

t.test(
  'a store stands behind us from when it is told to, and so does the child after it',
  { skip },
  async t => {
    const start = async () => {
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
      await once(child, 'spawn')
      return child
    }
    const log = createLogger({ logLevel: 'silent' })
    const store = await supervise({ name: 'Store', start, stopSignals: [['SIGKILL', 5_000]], log })
    t.teardown(() => store.stop())
    const first = store.pid!
    t.equal(getPriority(first), own)
    store.lower(7)
    t.equal(getPriority(first), 7)
    process.kill(first, 'SIGKILL')
    while (store.pid === first || store.pid === null) await sleep(20)
    t.equal(getPriority(store.pid), 7)
  },
)

t.test('an ended process is no error', { skip }, async t => {
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  t.doesNotThrow(() => lowerProcess(child.pid!, constants.priority.PRIORITY_LOW))
})
