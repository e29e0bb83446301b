// What the audit log is told of one request: the change it asks for, written with it, and how it was answered.
import { randomUUID } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import type { Sql } from 'postgres'
import type { Services } from '../../api/kit/services.js'
import type { AuditLog } from '../../engine/audit/audit.js'
import type { AskedChange } from '../../engine/audit/row.js'

/** The part of the audit log that requests speak to. */
export type AuditSink = Pick<AuditLog, 'note' | 'within' | 'failed'>

/** What is known of a request before it is answered. */
export type Asked = Omit<AskedChange, 'id' | 'status' | 'responseBody' | 'startedAtMs' | 'endedAtMs'> & {
  /** Of a success. */
  readonly expectedStatus: number
  /** Of the monotonic clock. */
  readonly startedMs: number
  readonly wallMs: () => number
}

/** One request of a key that is known, as the audit log will have it. */
export class Noting {
  private readonly id = randomUUID()
  private isNoted = false

  constructor(
    private readonly audit: AuditSink,
    private readonly asked: Asked,
  ) {}

  /** Write the row in the transaction of the change: without it there is no change. Any number of times. */
  within(tx: Sql): Promise<void> {
    return this.audit.within(tx, this.change(this.asked.expectedStatus, ''))
  }

  /** The same services, whose changes of definitions write the row. */
  services(services: Services): Services {
    const { catalogs } = services
    return {
      ...services,
      catalogs: {
        get: id => catalogs.get(id),
        change: (scope, work) =>
          catalogs.change(scope, async tx => {
            const result = await work(tx)
            await this.within(tx)
            return result
          }),
      },
    }
  }

  /** It was answered. Told once; what a limit refused is left out: a flood must not fill the log (source: decision). */
  answered(status: number, body: string): void {
    if (this.isNoted || status === 429) return
    this.isNoted = true
    this.audit.note(this.change(status, body))
  }

  private change(status: number, responseBody: string): AskedChange {
    const { expectedStatus: _, startedMs, wallMs, ...asked } = this.asked
    const endedAtMs = wallMs()
    const startedAtMs = Math.round(endedAtMs - (performance.now() - startedMs))
    return { ...asked, id: this.id, status, responseBody, startedAtMs, endedAtMs }
  }
}
