// The entry of a thread that reads large bodies: parsed, judged and packed, one after the other.
import { type ParseJob, parseBody, transfersOf } from '../../src/events/parsing.js'
import { mechanisms } from '../../src/host/few-cores.js'
import { collectWhenIdle } from '../../src/host/idle-gc.js'
import { afterChecks, lowerThread } from '../../src/host/thread-priority.js'
import { closed, type Port } from '../../src/wire/port.js'

/** A parser's task from the HTTP thread, at its start. */
interface ParseTask {
  readonly port: Port
}

/** Runs until the port closes. A body that it cannot answer ends the thread: another one is started. */
export default async function parse({ port }: ParseTask): Promise<void> {
  const over = closed(port)
  if (mechanisms().threadPriorities) lowerThread(afterChecks)
  if (mechanisms().idleCollections) collectWhenIdle()
  port.on('message', (job: ParseJob) => {
    const reply = parseBody(job)
    port.postMessage(reply, transfersOf(reply))
  })
  await over
}
