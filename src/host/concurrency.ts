// A bound on how much of one kind of work runs at once.

/**
 * Lets a few pieces of work run at a time; the others wait their turn. `signal` ends the wait of one that has not begun:
 * it never begins, and rejects with the reason.
 */
export function limitConcurrency(
  max: number,
): <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0
  const turn = (signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const begin = (): void => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      const leave = (): void => {
        waiting.splice(waiting.indexOf(begin), 1)
        reject(signal!.reason)
      }
      waiting.push(begin)
      signal?.addEventListener('abort', leave, { once: true })
    })
  return async (work, signal) => {
    signal?.throwIfAborted()
    if (running === max) await turn(signal)
    else running++
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
}
