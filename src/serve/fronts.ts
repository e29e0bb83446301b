// Starts the extra fronts, once the main thread serves.
import { checkingThreads, connectionBounds, recordRates } from '../config.js'
import type { CheckCounts } from '../core/model/message.js'
import { factsOf } from '../front/extra/facts.js'
import { FrontUses } from '../front/extra/front-uses.js'
import { Fronts } from '../front/extra/fronts.js'
import type { FrontMemory } from '../front/extra/shared-memory.js'
import { ToldKeys } from '../front/extra/told-keys.js'
import type { Limits } from '../front/http/admission/limits.js'
import type { PassedApp } from '../front/http/apps/passed-app.js'
import { monotonicMs } from '../host/monotonic.js'
import type { Services } from '../kit/services.js'
import type { Changes } from '../wire/version-counters.js'
import type { Opening } from './opening.js'
import { routes } from './routes.js'

const frontFile = new URL('../../served/front.js', import.meta.url)
/** How often a slow request of a front may be logged. */
const tellMs = 1_000

/** Room for two of the longest bodies, of different keys. */
const bodiesBytesMin = 16_777_216

/** The fronts, for the port that the main thread has taken; they are not started yet. */
export function openFronts(
  { config, log }: Opening,
  services: Services,
  parts: {
    readonly app: PassedApp
    readonly port: number
    readonly memory: FrontMemory
    readonly limits: Limits
    readonly changes: Changes
    readonly noteChecks: (counts: CheckCounts) => void
  },
): Fronts {
  const { app, port, memory, limits, changes, noteChecks } = parts
  const { directory, shards, keys, clock } = services
  const route = routes.find(({ path }) => path === '/flags/:key/check')!
  const eventsRoute = routes.find(({ path, method }) => path === '/events' && method === 'post')!
  const told = new ToldKeys()
  const facts = { services, limits, editions: memory.editions, route, eventsRoute, told }
  const uses = new FrontUses(services, told, log)
  let toldMs = Number.NEGATIVE_INFINITY
  return new Fronts({
    app,
    workerFile: frontFile,
    count: config.fronts,
    memory,
    names: () => directory.lent,
    shards,
    listener: {
      factsOf: (secret, environmentId) => factsOf(facts, secret, environmentId),
      counted: noteChecks,
      uses: (packet, front, say) => uses.take(packet, front, say),
      used: keyIds => {
        for (const id of keyIds) keys.used(id, performance.now())
      },
      slow: line => {
        if (performance.now() - toldMs < tellMs) return
        toldMs = performance.now()
        log.warn(line, 'slow request')
      },
    },
    start: {
      host: config.host,
      listenOn: port,
      connections: connectionBounds(config),
      bodiesBytesMax: Math.max(bodiesBytesMin, Math.floor(config.bodiesBytesMax / config.fronts)),
      // where each request leaves a line or a trace, the main thread makes it
      answers: config.tracesUrl === null && !log.isLevelEnabled('debug'),
      changes: changes.memory,
      zeroMs: monotonicMs() - performance.now(),
      floorMs: clock.wall(),
      apiKeyHeaders: config.apiKeyHeaders,
      environmentHeaders: config.environmentHeaders,
      trustProxy: config.trustProxy,
      corsOrigins: config.corsOrigins,
      slowRequestMs: config.slowRequestMs,
      records: recordRates(config, checkingThreads(config)),
    },
    log,
    hangs: () => {
      log.fatal('a front does not answer: the process ends, to be started anew')
      // its open server would keep an orderly exit from coming to its end
      log.flush(() => process.kill(process.pid, 'SIGKILL'))
    },
  })
}
