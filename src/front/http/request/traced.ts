// A traced request: one span from its first byte to its response. The span has the route, the status and the
// environment, and nothing sent by the caller.

import type { Trace, Tracing } from '../../../tracing.js'
import type { AppRequest } from '../apps/app.js'
import { Exchange } from './exchange.js'
import type { Reply } from './respond.js'

/** The subclass of Exchange that a server uses when tracing is on. */
export function tracedExchange(tracing: Tracing): typeof Exchange {
  return class extends Exchange {
    private trace: Trace | undefined

    override begin(req: AppRequest, headOnly: boolean): void {
      const { label, method, route } = this.compiled
      this.trace = tracing.request(
        label,
        { 'http.request.method': headOnly ? 'HEAD' : method, 'http.route': route.path },
        ...this.parentOf(req),
      )
      super.begin(req, headOnly)
    }

    // only callers with a known key may decide that a request is traced
    private parentOf(req: AppRequest): [traceparent: string, tracestate: string] {
      return this.isKnown(req) ? [req.getHeader('traceparent'), req.getHeader('tracestate')] : ['', '']
    }

    protected override handle(body: unknown, text?: string): void {
      if (this.trace?.kept) tracing.within(this.trace, () => super.handle(body, text))
      else super.handle(body, text)
    }

    protected override answer(reply: Reply): void {
      super.answer(reply)
      this.end(reply.status)
    }

    // for a stream: when its last byte is sent; otherwise it has been answered already
    protected override gone(): void {
      super.gone()
      this.end(200)
    }

    protected override abort(): void {
      this.trace?.end({ ...this.place(), 'tollgate.aborted': true }, false)
      super.abort()
    }

    protected override line(requestId: string, status: number) {
      const line = super.line(requestId, status)
      return this.trace?.kept ? { ...line, trace_id: this.trace.id } : line
    }

    private end(status: number): void {
      this.trace?.end({ ...this.place(), 'http.response.status_code': status }, status >= 500)
    }

    private place() {
      const id = this.admission?.environment?.id
      return id === undefined ? {} : { 'tollgate.environment_id': id }
    }
  }
}
