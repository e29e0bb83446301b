// GET /metrics: the metrics text, built at most once a second, with optional authentication.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Logger } from '../../log.js'
import type { Metrics } from '../../metrics.js'
import type { AppRequest, AppResponse } from './apps/app.js'
import { headersOf, statusLine } from './request/respond.js'
import { bearerOf } from './routing/headers.js'

const keptMs = 1_000

interface MetricsEndpointOptions {
  readonly metrics: Metrics
  /** Required bearer token; null: none. */
  readonly token: string | null
  readonly log: Logger
  /** Called before the text is built. */
  readonly before: () => void
}

export class MetricsEndpoint {
  private madeAtMs = Number.NEGATIVE_INFINITY
  private text: Promise<string> | null = null
  private readonly token: Buffer | null

  constructor(private readonly options: MetricsEndpointOptions) {
    this.token = options.token === null ? null : digest(options.token)
  }

  answer(res: AppResponse, req: AppRequest): void {
    let gone = false
    res.onAborted(() => {
      gone = true
    })
    if (!this.mayRead(req)) return tell(res, 401, '{"error":"A bearer token is missing or unknown"}')
    this.made().then(
      text => {
        if (gone) return
        const type = headersOf(this.options.metrics.registry.contentType)
        res.cork(() => res.writeHeader('Content-Type', type).end(text))
      },
      error => {
        this.options.log.error({ err: error }, 'metrics failed')
        if (!gone) res.cork(() => tell(res, 500, '{"error":"Server error"}'))
      },
    )
  }

  private mayRead(req: AppRequest): boolean {
    if (this.token === null) return true
    return timingSafeEqual(digest(bearerOf(req.getHeader('authorization'))), this.token)
  }

  private made(): Promise<string> {
    const nowMs = performance.now()
    if (this.text === null || nowMs - this.madeAtMs >= keptMs) {
      this.options.before()
      this.madeAtMs = nowMs
      this.text = this.options.metrics.text()
      this.text.catch(() => {
        this.text = null
      })
    }
    return this.text
  }
}

const digest = (token: string): Buffer => createHash('sha256').update(token).digest()

function tell(res: AppResponse, status: number, body: string): void {
  res.writeStatus(statusLine(status)).writeHeader('Content-Type', headersOf('application/json')).end(body)
}
