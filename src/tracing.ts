// OpenTelemetry traces, when they are asked for: the only file that loads its packages, and loaded itself only then.
// What is measured elsewhere becomes spans here, on the HTTP thread alone; the other threads tell of their times.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Attributes, Context, Span, Tracer } from '@opentelemetry/api'
import { monotonicMs } from './host/monotonic.js'
import type { Logger } from './log.js'

/** How long a stop waits for the last spans to leave, ms. */
const closeMs = 3_000
/** How often it is said that spans cannot be sent, ms. */
const tellMs = 60_000

type Api = typeof import('@opentelemetry/api')
type Core = typeof import('@opentelemetry/core')

/** A piece of work that is over; its times are of `monotonicMs`. */
export interface Work {
  readonly name: string
  readonly fromMs: number
  readonly toMs: number
  readonly attributes: Attributes
  readonly failed: boolean
}

/** Makes spans and sends them, as OTLP over HTTP with JSON. What else there is to set, the packages read themselves. */
export class Tracing {
  private readonly running = new AsyncLocalStorage<Trace>()
  private readonly propagator

  private constructor(
    readonly api: Api,
    core: Core,
    readonly tracer: Tracer,
    private readonly shutdown: () => Promise<void>,
  ) {
    this.propagator = new core.W3CTraceContextPropagator()
  }

  /**
   * Load the packages.
   *
   * url  where spans are posted to.
   * log  told, once a minute at most, when they cannot be sent.
   */
  static async open(url: string, log: Logger): Promise<Tracing> {
    const [api, core, resources, sdk, { OTLPTraceExporter }] = await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/core'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/sdk-trace-base'),
      import('@opentelemetry/exporter-trace-otlp-http'),
    ])
    const tell = seldom(error => log.warn({ err: error }, 'traces are not sent as they should be'))
    core.setGlobalErrorHandler(tell)
    const silent = () => {}
    api.diag.setLogger(
      { error: tell, warn: tell, info: silent, debug: silent, verbose: silent },
      { logLevel: api.DiagLogLevel.WARN, suppressOverrideMessage: true },
    )
    const provider = new sdk.BasicTracerProvider({
      resource: resources
        .defaultResource()
        .merge(resources.resourceFromAttributes({ 'service.name': 'tollgate' }))
        .merge(resources.detectResources({ detectors: [resources.envDetector] })),
      spanProcessors: [new sdk.BatchSpanProcessor(new OTLPTraceExporter({ url }))],
    })
    return new Tracing(api, core, provider.getTracer('tollgate'), () => provider.shutdown())
  }

  /** The trace of a request that begins, as a part of its caller's when `traceparent` names one. */
  request(name: string, attributes: Attributes, traceparent: string, tracestate: string): Trace {
    const { api } = this
    const caller =
      traceparent === ''
        ? api.ROOT_CONTEXT
        : this.propagator.extract(api.ROOT_CONTEXT, { traceparent, tracestate }, api.defaultTextMapGetter)
    return Trace.begin(this, caller, name, attributes)
  }

  /** Run something as a part of a trace, with all that it waits for. */
  within<T>(trace: Trace, work: () => T): T {
    return this.running.run(trace, work)
  }

  /** The trace that the caller is a part of; undefined when there is none, or none that is kept. */
  get current(): Trace | undefined {
    const trace = this.running.getStore()
    return trace?.kept ? trace : undefined
  }

  /** Work that is nobody's request: a trace of its own. */
  alone(work: Work): void {
    const zeroMs = Date.now() - monotonicMs()
    record(this, this.api.ROOT_CONTEXT, zeroMs, work)
  }

  /** Send what is left. */
  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>(resolve => {
      timer = setTimeout(resolve, closeMs)
    })
    await Promise.race([this.shutdown(), late])
    clearTimeout(timer)
  }
}

/** A request's spans. */
export class Trace {
  private ended = false

  private constructor(
    private readonly tracing: Tracing,
    private readonly span: Span,
    private readonly context: Context,
    /** Epoch ms at the zero of the monotonic clock, as of this request's beginning. */
    private readonly zeroMs: number,
  ) {}

  static begin(tracing: Tracing, caller: Context, name: string, attributes: Attributes): Trace {
    const { api, tracer } = tracing
    const startTime = Date.now()
    const zeroMs = startTime - monotonicMs()
    const span = tracer.startSpan(name, { kind: api.SpanKind.SERVER, startTime, attributes }, caller)
    return new Trace(tracing, span, api.trace.setSpan(caller, span), zeroMs)
  }

  /** Whether it is recorded: a sampler, or the caller, may have said no. */
  get kept(): boolean {
    return this.span.isRecording()
  }

  get id(): string {
    return this.span.spanContext().traceId
  }

  /** Work done for the request; `parts` are parts of it. */
  add(work: Work, parts: readonly Work[] = []): void {
    const context = record(this.tracing, this.context, this.zeroMs, work)
    for (const part of parts) record(this.tracing, context, this.zeroMs, part)
  }

  /** The request is over; again: nothing. */
  end(attributes: Attributes, failed: boolean): void {
    if (this.ended) return
    this.ended = true
    this.span.setAttributes(attributes)
    if (failed) this.span.setStatus({ code: this.tracing.api.SpanStatusCode.ERROR })
    this.span.end(this.zeroMs + monotonicMs())
  }
}

/** Returns the context in which the work is the parent. */
function record({ api, tracer }: Tracing, parent: Context, zeroMs: number, work: Work): Context {
  const { name, fromMs, toMs, attributes, failed } = work
  const span = tracer.startSpan(name, { startTime: zeroMs + fromMs, attributes }, parent)
  if (failed) span.setStatus({ code: api.SpanStatusCode.ERROR })
  span.end(zeroMs + toMs)
  return api.trace.setSpan(parent, span)
}

function seldom(tell: (error: unknown) => void): (error: unknown) => void {
  let nextMs = 0
  return error => {
    const nowMs = monotonicMs()
    if (nowMs < nextMs) return
    nextMs = nowMs + tellMs
    tell(error)
  }
}
