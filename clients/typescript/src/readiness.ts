// The client's readiness, and the callers that wait for it.
import { TollgateError } from './errors.js'

interface Waiter {
  resolve(): void
  reject(error: TollgateError): void
}

export class Readiness {
  private readonly waiters = new Set<Waiter>()
  /** Why the last attempt was in vain. */
  private reason = 'the service has not answered yet'
  /** The service's refusal of the key; null: none. */
  private refusal: TollgateError | null = null

  constructor(
    private isReady: boolean,
    private readonly url: string,
  ) {}

  /** timeoutMs  Infinity: no limit. */
  wait(timeoutMs: number): Promise<void> {
    if (this.isReady) return Promise.resolve()
    if (this.refusal !== null) return Promise.reject(this.refusal)
    return new Promise((resolve, reject) => {
      let timer: ReturnType<typeof setTimeout> | undefined
      const end = () => {
        clearTimeout(timer)
        this.waiters.delete(waiter)
      }
      const waiter: Waiter = {
        resolve: () => {
          end()
          resolve()
        },
        reject: error => {
          end()
          reject(error)
        },
      }
      this.waiters.add(waiter)
      if (!Number.isFinite(timeoutMs)) return
      timer = setTimeout(() => {
        const line = `Tollgate at ${this.url} was not ready within ${timeoutMs} ms: ${this.reason}`
        waiter.reject(new TollgateError(0, line, 'not_ready'))
      }, timeoutMs)
    })
  }

  reached(): void {
    this.isReady = true
    this.refusal = null
    for (const waiter of [...this.waiters]) waiter.resolve()
  }

  /** refusal  of the key: nothing else will be answered, so waiters hear it at once. */
  failed(reason: string, refusal: TollgateError | null): void {
    this.reason = reason
    this.refusal = refusal
    if (refusal !== null) for (const waiter of [...this.waiters]) waiter.reject(refusal)
  }

  /** The key was changed: a refusal of the former one means nothing. */
  again(): void {
    this.refusal = null
  }
}
