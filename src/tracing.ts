// OpenTelemetry tracing. Only this file imports its packages, and it is imported only if tracing is on. All spans are
// created on the HTTP thread; other threads report their times.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Attributes, Context, Span, Tracer } from '@opentelemetry/api'
import { monotonicMs } from './host/monotonic.js'
import type { Logger } from './log.js'

/** Longest wait for the last spans when stopping, ms. */
const closeMs = 3_000
/** Interval of log messages about spans that cannot be sent, ms. */
const tellMs = 60_000

type Api = typeof import('@opentelemetry/api')
type Core = typeof import('@opentelemetry/core')

/** A finished piece of work, with times from `monotonicMs`. */
export interface Work {
  readonly name: string
  readonly fromMs: number
  readonly toMs: number
  readonly attributes: Attributes
  readonly failed: boolean
}

/** Creates spans and sends them as OTLP over HTTP with JSON. The packages read further settings themselves. */
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
   * url  receives the spans.
   * log  gets a warning, at most once a minute, when they cannot be sent.
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

  /** Start the trace of a request, as a child of the caller's if `traceparent` names one. */
  request(name: string, attributes: Attributes, traceparent: string, tracestate: string): Trace {
    const { api } = this
    const caller =
      traceparent === ''
        ? api.ROOT_CONTEXT
        : this.propagator.extract(api.ROOT_CONTEXT, { traceparent, tracestate }, api.defaultTextMapGetter)
    return Trace.begin(this, caller, name, attributes)
  }

  /** Run a function within a trace, including everything it awaits. */
  within<T>(trace: Trace, work: () => T): T {
    return this.running.run(trace, work)
  }

  /** The caller's trace; undefined without one, or when it is not sampled. */
  get current(): Trace | undefined {
    const trace = this.running.getStore()
    return trace?.kept ? trace : undefined
  }

  /** Record work outside any request as its own trace. */
  alone(work: Work): void {
    const zeroMs = Date.now() - monotonicMs()
    record(this, this.api.ROOT_CONTEXT, zeroMs, work)
  }

  /** Send the remaining spans. */
  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>(resolve => {
      timer = setTimeout(resolve, closeMs)
    })
    await Promise.race([this.shutdown(), late])
    clearTimeout(timer)
  }
}

/** The spans of a request. */
export class Trace {
  private ended = false

  private constructor(
    private readonly tracing: Tracing,
    private readonly span: Span,
    private readonly context: Context,
    /** Epoch ms at the zero of the monotonic clock, measured at the start of this request. */
    private readonly zeroMs: number,
  ) {}

  static begin(tracing: Tracing, caller: Context, name: string, attributes: Attributes): Trace {
    const { api, tracer } = tracing
    const startTime = Date.now()
    const zeroMs = startTime - monotonicMs()
    const span = tracer.startSpan(name, { kind: api.SpanKind.SERVER, startTime, attributes }, caller)
    return new Trace(tracing, span, api.trace.setSpan(caller, span), zeroMs)
  }

  /** Whether it is sampled. */
  get kept(): boolean {
    return this.span.isRecording()
  }

  get id(): string {
    return this.span.spanContext().traceId
  }

  /** Add work done for the request; `parts` become its children. */
  add(work: Work, parts: readonly Work[] = []): void {
    const context = record(this.tracing, this.context, this.zeroMs, work)
    for (const part of parts) record(this.tracing, context, this.zeroMs, part)
  }

  /** End the request's span. A second call does nothing. */
  end(attributes: Attributes, failed: boolean): void {
    if (this.ended) return
    this.ended = true
    this.span.setAttributes(attributes)
    if (failed) this.span.setStatus({ code: this.tracing.api.SpanStatusCode.ERROR })
    this.span.end(this.zeroMs + monotonicMs())
  }
}

/** Record a span. Returns the context in which it is the parent. */
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
