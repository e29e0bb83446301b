// The audit row of one request: of a route that the log records, and a caller whose key is known.

import type { KeyRecord } from '../../../kit/call.js'
import type { Admission } from '../admission/admit.js'
import { AuditEntry, type AuditSink } from '../admission/audit-entry.js'
import type { Incoming } from './read.js'

export class RequestAudit {
  /** The body of a change. */
  requestBody: string | null = null
  private made: AuditEntry | null = null

  constructor(
    private readonly audit: AuditSink,
    private readonly incoming: Incoming,
    private readonly key: KeyRecord,
    private readonly caller: { remoteIp(): string },
    private readonly reply: { readonly admission: Admission | null; ownId(): string },
  ) {}

  /** The row; it is made when it is first asked for. */
  get noting(): AuditEntry {
    const { audit, incoming, caller, reply, key } = this
    const { shared, compiled, parameters, rawQuery, url, userAgent, startedMs } = incoming
    this.made ??= new AuditEntry(audit, {
      kind: compiled.route.mutates ? 'change' : 'read',
      key,
      environmentId: reply.admission?.environment?.id ?? key.environmentId,
      method: compiled.method,
      path: compiled.route.path,
      parameters,
      url: rawQuery === '' ? url : `${url}?${rawQuery}`,
      requestBody: this.requestBody,
      remoteIp: caller.remoteIp(),
      userAgent,
      requestId: reply.ownId(),
      expectedStatus: compiled.route.status,
      startedMs,
      wallMs: () => shared.services!.clock.wall(),
    })
    return this.made
  }
}
