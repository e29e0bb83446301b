// A traced request: one span from its first byte to its response. The span has the route, the status and the
// environment, and nothing sent by the caller.
import type { Trace, Tracing } from '../../../tracing.js'
import type { AppRequest, AppResponse } from '../apps/app.js'
import { keyIn } from './admit.js'
import { CallStage } from './call.js'
import type { Incoming } from './read.js'
import { ReplyStage } from './reply.js'
import { askNobody } from './request.js'
import type { Reply } from './respond.js'
import { plainStages, type Stages } from './stages.js'

/** The stages that a server uses when tracing is on. */
export function tracedStages(tracing: Tracing): Stages {
  class TracedReply extends ReplyStage {
    readonly trace: Trace

    constructor(incoming: Incoming, res: AppResponse, headOnly: boolean, req: AppRequest) {
      super(incoming, res, headOnly)
      const { label, method, route } = incoming.compiled
      this.trace = tracing.request(
        label,
        { 'http.request.method': headOnly ? 'HEAD' : method, 'http.route': route.path },
        ...this.parentOf(req),
      )
    }

    // only callers with a known key may decide that a request is traced
    private parentOf(req: AppRequest): [traceparent: string, tracestate: string] {
      return this.isKnown(req) ? [req.getHeader('traceparent'), req.getHeader('tracestate')] : ['', '']
    }

    /** Whether the key in the header is in memory. */
    private isKnown(req: AppRequest): boolean {
      const { services, head } = this.incoming.shared
      head.read(req)
      const secret = keyIn(this.incoming.compiled, head)
      const found = secret === '' ? null : (services?.keys.find(secret, askNobody) ?? null)
      return found !== null && !(found instanceof Promise)
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

    override abort(): void {
      this.trace.end({ ...this.place(), 'tollgate.aborted': true }, false)
      super.abort()
    }

    protected override line(requestId: string, status: number) {
      const line = super.line(requestId, status)
      return this.trace.kept ? { ...line, trace_id: this.trace.id } : line
    }

    private end(status: number): void {
      this.trace.end({ ...this.place(), 'http.response.status_code': status }, status >= 500)
    }

    private place() {
      const id = this.admission?.environment?.id
      return id === undefined ? {} : { 'tollgate.environment_id': id }
    }
  }

  class TracedCall extends CallStage {
    override handle(body: unknown, text: string): void {
      const { trace } = this.reply as TracedReply
      if (trace.kept) tracing.within(trace, () => super.handle(body, text))
      else super.handle(body, text)
    }
  }

  return { ...plainStages, Call: TracedCall, Reply: TracedReply }
}
