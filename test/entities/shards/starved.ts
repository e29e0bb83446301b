// A process of the test of threads: it uses up its file handles, starts a thread, gives them back, and starts another. Each line
// of its output says what became of one.
import { closeSync, openSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { prepareThreads, startThread } from '../../../src/entities/shards/thread.js'

const file = new URL('./brief-task.js', import.meta.url)

async function fateOfThread(): Promise<string> {
  const thread = startThread(file, port => ({ port }))
  const fate = await thread.ended.then(
    () => 'ended',
    (error: Error & { readonly code?: string }) => error.code ?? error.message,
  )
  thread.port.close()
  await thread.destroy()
  return fate
}

console.log(await fateOfThread())
const taken: number[] = []
try {
  for (;;) taken.push(openSync('/dev/null', 'r'))
} catch {}
console.log(await fateOfThread())
// threads that nothing was asked of
const end = prepareThreads(file, 1)
await wait(500)
console.log(await fateOfThread())
for (const handle of taken) closeSync(handle)
console.log(await fateOfThread())
await end()
