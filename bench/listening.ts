// A service that a demonstration starts: where it listens, and when it is gone.
import type { ChildProcess } from 'node:child_process'

/**
 * Wait until a service that was just started listens.
 *
 * child   its stdout is a pipe.
 * name    the name of the service in the error.
 * errors  rejects when it exits before.
 */
export async function listening(
  child: ChildProcess,
  name: string,
): Promise<{ readonly url: string; readonly exited: Promise<void> }> {
  const exited = new Promise<void>(resolve => child.on('exit', () => resolve()))
  const url = await new Promise<string>((resolve, reject) => {
    let text = ''
    child.stdout!.on('data', chunk => {
      text += chunk
      const found = /listens on (http:\S+)/.exec(text)
      if (found) resolve(found[1]!)
    })
    void exited.then(() => reject(new Error(`${name} did not start`)))
  })
  return { url, exited }
}
