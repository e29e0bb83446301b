// A service that was just started as a process: where it listens, and when it is gone.
import type { ChildProcess } from 'node:child_process'

/**
 * Wait until a service that was just started listens.
 *
 * child    its stdout is a pipe.
 * name     the name of the service in the error.
 * returns  its URL; and its exit code once it has ended, null after a signal.
 * errors   rejects when it exits before.
 */
export async function listening(
  child: ChildProcess,
  name: string,
): Promise<{ readonly url: string; readonly exited: Promise<number | null> }> {
  const exited = new Promise<number | null>(resolve => child.on('exit', resolve))
  const url = await new Promise<string>((resolve, reject) => {
    let text = ''
    child.stdout!.on('data', chunk => {
      text += chunk
      const found = /listens on (http:\S+)/.exec(text)
      if (found) resolve(found[1]!)
    })
    void exited.then(code => reject(new Error(`${name} exited with ${code} before it listened`)))
  })
  return { url, exited }
}
