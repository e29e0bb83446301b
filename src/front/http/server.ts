// The HTTP server: routes, other paths, start and stop.

import { rateLimitBuckets } from '../../../schemas/enums.js'
import { ServiceError } from '../../errors.js'
import type { Services } from '../../kit/services.js'
import type { Metrics, Tally } from '../../metrics.js'
import { type FrontFigures, frontRoutes, frontStatuses, passReasons } from '../../wire/front-figures.js'
import { preflightHeaders } from './admission/cors.js'
import type { App, AppRequest, AppResponse } from './apps/app.js'
import { consoleApi, consoleStages, isOfConsole } from './console/admit.js'
import { registerConsole } from './console/files.js'
import { ConsoleStream, consoleStreamPath } from './console/live.js'
import { registerSignIn } from './console/sign-in.js'
import type { SignOn } from './console/sign-on.js'
import { type Health, live, ready } from './health.js'
import { MetricsEndpoint } from './metrics-endpoint.js'
import { Compiled } from './request/compiled-route.js'
import { framedPages, type Pages } from './request/framed-pages.js'
import { failure, fixedHeaders } from './request/respond.js'
import { Shared, type SharedOptions } from './request/shared.js'
import { begin, plainStages, type Stages } from './request/stages.js'
import { PathMethods, wrongMethod } from './routing/path-methods.js'
import { type Route, taggedRead } from './routing/route.js'
import type { Wrappers } from './routing/wrapper.js'
import { Datastream, datastreamPath } from './stream/datastream.js'

// How long sent responses may take to leave the machine when stopping.
const flushMs = 100

/** Figures of the extra fronts. */
interface FrontReports {
  readonly inFlight: number
  report(): readonly ReturnType<FrontFigures['since']>[]
}

interface ServerOptions extends SharedOptions {
  readonly health: Health
  readonly routes: readonly Route[]
  /** Registers the pages that describe the routes. */
  readonly documents: (pages: Pages, routes: readonly Route[]) => void
  /** The stages of requests with tracing. */
  readonly stages?: Stages
  /** The extra fronts; absent or null: there are none. */
  readonly fronts?: () => FrontReports | null
  /** Sign-on to the console; absent or null: links and keys alone. */
  readonly signOn?: SignOn | null
}

/** The HTTP server. It answers /health from `listen` on, and everything else from `serve` on. */
export class Server {
  private readonly shared: Shared
  private readonly datastream: Datastream
  private readonly live: ConsoleStream
  private readonly pages: Pages
  private readonly compiled: Compiled[] = []
  /** In the order of the figures of a front; null: none were reported. */
  private passedOn: readonly Tally[] | null = null

  constructor(
    private readonly app: App,
    private readonly options: ServerOptions,
  ) {
    this.shared = new Shared(options, app)
    this.pages = framedPages(app, this.shared)
    this.datastream = new Datastream(this.shared, options.config)
    this.live = new ConsoleStream(this.shared, options.config)
    app.socket(datastreamPath, this.datastream)
    app.socket(consoleStreamPath, this.live)
    for (const route of options.routes) this.register(route)
    this.registerOthers()
  }

  /**
   * Accept connections.
   *
   * port     0: any free one.
   * shared   other nodes may listen on the port, too.
   * returns  the port.
   * errors   rejects when the address is not available.
   */
  listen(host: string, port: number, shared: boolean): Promise<number> {
    return this.app.listen(host, port, shared)
  }

  /** Whether requests reach their handlers. */
  get serving(): boolean {
    return this.shared.services !== null && !this.shared.draining
  }

  /** Present problems, as readiness names them. */
  get degraded(): readonly string[] {
    return this.options.health.degraded()
  }

  /** Start to pass requests to their handlers, of some routes through their wrappers. */
  serve(services: Services, wrappers: Wrappers = new Map()): void {
    for (const one of this.compiled) one.wrapper = wrappers.get(one.label) ?? null
    this.shared.services = services
  }

  /**
   * Stop: accept no more connections, answer requests in flight, close the rest. Resolves when every connection is
   * closed, at the latest after `drainMs`.
   */
  async close(): Promise<void> {
    if (this.shared.draining) return
    this.shared.draining = true
    this.datastream.close()
    this.live.close()
    this.app.stopListening()
    await this.shared.idle(this.options.config.drainMs)
    await new Promise(resolve => setTimeout(resolve, flushMs))
    this.app.close()
  }

  private register(route: Route): void {
    const compiled = new Compiled(route, this.options.metrics, taggedRead(route, this.options.routes))
    this.compiled.push(compiled)
    const { shared } = this
    const stages = this.options.stages ?? plainStages
    const serve = (res: AppResponse, req: AppRequest) => begin(shared, compiled, res, req, false, stages)
    // a path with a slash at its end is the same path
    for (const path of [route.path, `${route.path}/`]) {
      this.app.on(route.method, path, serve)
      if (route.method === 'get')
        this.app.on('head', path, (res, req) => begin(shared, compiled, res, req, true, stages))
    }
    if (!isOfConsole(route)) return
    // the same operation and counters, by the cookie of a session
    this.app.on(route.method, consoleApi + route.path, (res, req) =>
      begin(shared, compiled, res, req, false, consoleStages),
    )
  }

  private registerOthers(): void {
    const { shared, options, pages } = this
    for (const method of ['get', 'head'] as const) {
      pages.on(method, '/health/live', res => shared.write(res, live(), method === 'head'))
      pages.on(method, '/health/ready', res =>
        shared.write(res, ready(options.health, shared.draining), method === 'head'),
      )
    }
    if (options.config.metricsAddress === null) this.registerMetrics(this.app)
    options.documents(pages, options.routes)
    registerConsole(pages)
    registerSignIn(pages, shared, options.signOn ?? null)
    this.registerPreflights()
    const notUpgraded = failure(new ServiceError('upgrade_required'), '\r\nUpgrade: websocket')
    // A client that cannot see why its upgrade was refused asks without one, and hears the same refusals.
    pages.on('get', datastreamPath, (res, req) =>
      this.datastream.upgrade(res, req, () => res.cork(() => shared.write(res, notUpgraded, false))),
    )
    pages.on('get', consoleStreamPath, res => shared.write(res, notUpgraded, false))
    const unknown = options.metrics.http.requests.child({ route: 'unknown', status: '404' })
    const absent = failure(new ServiceError('route_unknown'), '')
    const methods = new PathMethods(options.routes)
    const misused = options.metrics.http.requests.child({ route: 'unknown', status: '405' })
    pages.on('any', '/*', (res, req) => {
      const allowed = methods.of(req.getUrl())
      ;(allowed === null ? unknown : misused).count++
      const reply = allowed === null ? absent : wrongMethod(req.getMethod(), allowed)
      shared.write(res, reply, req.getMethod() === 'head')
    })
  }

  /** Register OPTIONS for the routes that accept publishable keys. */
  private registerPreflights(): void {
    const { shared, options, pages } = this
    const preflight = preflightHeaders(options.config.apiKeyHeaders, options.config.environmentHeaders)
    for (const { path, scope } of options.routes) {
      if (scope !== 'check' && scope !== 'capture' && scope !== 'portal') continue
      pages.on('options', path, res => {
        res
          .writeStatus('204 No Content')
          .writeHeader('Content-Type', fixedHeaders + shared.cors.linesOf(shared.head.origin))
        for (const [name, value] of preflight) res.writeHeader(name, value)
        res.endWithoutBody()
      })
    }
    pages.on('options', '/*', res =>
      res.writeStatus('204 No Content').writeHeader('Content-Type', fixedHeaders).endWithoutBody(),
    )
  }

  /** Register GET /metrics on this app: the server's own, or a separate one. */
  registerMetrics(app: App): void {
    const { metrics, log, config } = this.options
    const before = () => {
      const fronts = this.options.fronts?.() ?? null
      metrics.http.inFlight.set(this.shared.inFlight + (fronts?.inFlight ?? 0))
      for (const one of fronts?.report() ?? []) this.addFigures(one)
    }
    const page = new MetricsEndpoint({ metrics, log, token: config.metricsToken, before })
    framedPages(app, this.shared).on('get', '/metrics', (res, req) => page.answer(res, req))
  }

  /** Count what another front has answered. */
  private addFigures(one: ReturnType<FrontFigures['since']>): void {
    const { flags, again, aborted, closed, refused, routes, passed } = one
    const { metrics } = this.options
    metrics.checks.count += flags
    metrics.checksAgain.count += again
    metrics.http.aborted.count += aborted
    metrics.connectionsRefused.total.count += closed[0]!
    metrics.connectionsRefused.address.count += closed[1]!
    for (const [place, bucket] of rateLimitBuckets.entries())
      metrics.http.rejected[bucket].count += refused[place]!
    for (const [i, { statuses, seconds, buckets }] of routes.entries()) {
      const compiled = this.compiled.find(({ label }) => label === frontRoutes[i])!
      for (const [place, status] of frontStatuses.entries())
        compiled.answeredElsewhere(status, statuses[place]!)
      const total = statuses.reduce((sum, count) => sum + count, 0)
      compiled.seconds.add(seconds, buckets, total)
    }
    this.passedOn ??= passedOnOf(metrics.passedOn)
    for (const [place, tally] of this.passedOn.entries()) tally.count += passed[place]!
  }
}

function passedOnOf(family: Metrics['passedOn']): readonly Tally[] {
  const reasons = frontRoutes.flatMap(route => passReasons.map(reason => ({ route, reason })))
  return [...reasons, { route: 'other', reason: 'route' }].map(labels => family.child(labels))
}
