// The audit row of one request: written with its change, completed with its response.
import { randomUUID } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import type { Sql } from 'postgres'
import type { AuditLog } from '../../../account/audit/audit.js'
import type { RequestedChange } from '../../../account/audit/row.js'
import { ofTestEnvironment } from '../../../account/definition-bounds.js'
import type { Services } from '../../../kit/services.js'

/** The part of the audit log that requests use. */
export type AuditSink = Pick<AuditLog, 'note' | 'within' | 'failed'>

/** The request's data, known before its response. */
type ChangeRequest = Omit<RequestedChange, 'id' | 'status' | 'responseBody' | 'startedAtMs' | 'endedAtMs'> & {
  /** The route's status of a success. */
  readonly expectedStatus: number
  /** On the monotonic clock. */
  readonly startedMs: number
  readonly wallMs: () => number
}

/** The audit row of one request with a known key. */
export class AuditEntry {
  private readonly id = randomUUID()
  private isNoted = false
  /** A row was written in the transaction of the change. */
  private isBegun = false

  constructor(
    private readonly audit: AuditSink,
    private readonly asked: ChangeRequest,
  ) {}

  /**
   * Write the row in the transaction of the change, so that neither exists without the other. May be called
   * repeatedly.
   */
  within(tx: Sql): Promise<void> {
    this.isBegun = true
    return this.audit.within(tx, this.change(this.asked.expectedStatus, ''))
  }

  /** The same services, whose changes of definitions also write the row. */
  services(services: Services): Services {
    const { catalogs, keys } = services
    const { environmentId, bootstrap } = this.asked.key
    const own = environmentId === null || bootstrap ? null : keys.environment(environmentId)
    const isTest = own !== null && own.environmentType !== 'production'
    return {
      ...services,
      catalogs: {
        get: id => catalogs.get(id),
        change: (scope, work) =>
          catalogs.change(scope, async tx => {
            if (isTest) await ofTestEnvironment(tx)
            const result = await work(tx)
            await this.within(tx)
            return result
          }),
      },
    }
  }

  /**
   * Record the response, once. Rate-limited requests are left out, so that a flood does not fill the log (source:
   * decision).
   */
  answered(status: number, body: string): void {
    if (this.isNoted || status === 429) return
    this.isNoted = true
    this.audit.note(this.change(status, body), this.isBegun)
  }

  private change(status: number, responseBody: string): RequestedChange {
    const { expectedStatus: _, startedMs, wallMs, ...asked } = this.asked
    const endedAtMs = wallMs()
    const startedAtMs = Math.round(endedAtMs - (performance.now() - startedMs))
    return { ...asked, id: this.id, status, responseBody, startedAtMs, endedAtMs }
  }
}
