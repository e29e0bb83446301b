// The entry of an extra front: one of the threads that take connections in place of the main thread.
import { receiveMessageOnPort } from 'node:worker_threads'
import { NameReader, type NamesChunk } from '../../src/entities/directory/name-reader.js'
import { Cors } from '../../src/front/http/admission/cors.js'
import { refusedTeller } from '../../src/front/http/apps/refused-connections.js'
import { UwsApp } from '../../src/front/http/apps/uws-app.js'
import { UnreadAnswers } from '../../src/front/http/request/unread-answers.js'
import { mechanisms } from '../../src/host/few-cores.js'
import { collectWhenIdle } from '../../src/host/idle-gc.js'
import { monotonicMs } from '../../src/host/monotonic.js'
import { WallClock } from '../../src/host/wall-clock.js'
import { ResponseCache } from '../../src/kept/response-cache.js'
import { latencyBounds } from '../../src/metrics.js'
import { BucketCells } from '../../src/wire/bucket-cells.js'
import { Editions } from '../../src/wire/editions.js'
import { FrontFigures } from '../../src/wire/front-figures.js'
import { beatMs, type FrontOptions, type FrontTask } from '../../src/wire/front-task.js'
import { type FromFront, Gathered, type ToFront } from '../../src/wire/passed.js'
import { closed } from '../../src/wire/port.js'
import { Changes } from '../../src/wire/version-counters.js'
import { FrontBudgets } from './budget.js'
import { FrontBulk } from './bulk.js'
import { FrontChecks } from './checks.js'
import { FrontEvents } from './events.js'
import { KnownKeys } from './known-keys.js'
import { FrontOfrep } from './ofrep.js'
import { OwnRequests } from './own-request.js'
import { Passing } from './passing.js'
import { ShardPorts } from './shard-ports.js'

/** The server's handles end in turns of the loop that follow its close; a thread that ended before would end the process. */
const closedMs = 100
/** How often counts and uses are told. */
const tellMs = 1_000
/** How long plain values of keys are kept at most, as on the main thread. */
const forgetMs = 60_000

/** Runs until the main thread closes it. Rejects, and another front comes, when something here throws. */
export default async function front({ port, options }: FrontTask): Promise<void> {
  const { host, listenOn, sockets, index } = options
  const out = new Gathered<FromFront>(port)
  const figures = new FrontFigures(options.figures, latencyBounds)
  const tellRefused = refusedTeller(line => out.say(['refused', line]))
  const app = new UwsApp({
    ...options.connections,
    // of the threads that keep answers the main one takes no connections
    threads: options.threads - 1,
    refused(bound, address) {
      figures.closed(bound)
      tellRefused(bound, address)
    },
  })
  const unread = new UnreadAnswers(options.threads)
  const passing = new Passing(app, out, options.bodiesBytesMax, unread, options.apiKeyHeaders)
  for (const [path, frameBytesMax] of sockets) {
    const route = passing.route(frameBytesMax)
    const upgrade: typeof route.upgrade = (...asked) => {
      figures.passedOther()
      route.upgrade(...asked)
    }
    app.socket(path, { ...route, upgrade })
  }
  const shards = new ShardPorts(options.shards)
  const known = new KnownKeys(new Editions(options.editions), (key, id) => out.say(['ask', key, id]))
  const own = ownRequests(options, { passing, out, known, shards, figures, unread })
  if (options.answers) {
    app.on('post', '/flags/:key/check', own.checks.ofFlag)
    app.on('post', '/flags/check', own.checks.ofAll)
    app.on('post', '/flags/check-bulk', new FrontBulk(own.checks).begin)
    const ofrep = new FrontOfrep(own.checks)
    app.on('post', '/ofrep/v1/evaluate/flags', ofrep.ofAll)
    app.on('post', '/ofrep/v1/evaluate/flags/:key', ofrep.ofFlag)
    app.on('post', '/events', own.events.one)
    app.on('post', '/event-batch', own.events.batch)
  }
  app.on('any', '/*', (res, req) => {
    figures.passedOther()
    passing.begin(res, req)
  })

  const failed = new Promise<never>((_, reject) => {
    // an exception would end the thread with its server open, and that the process
    process.on('uncaughtException', reject)
    process.on('unhandledRejection', reject)
  })
  const told = new Promise<void>(resolve => {
    port.on('message', (list: readonly ToFront[]) => {
      for (const said of list)
        if (said[0] === 'stop') {
          own.requests.draining = true
          app.stopListening()
        } else if (said[0] === 'close') resolve()
        else if (said[0] === 'told') known.told(said[1], said[2], said[3], said[4])
        else if (said[0] === 'shard') shards.connect(said[1], said[2], said[3])
        else if (said[0] === 'durable' || said[0] === 'untaken' || said[0] === 'undone') own.events.hear(said)
        else passing.hear(said)
    })
  })
  const beats = new Int32Array(options.beats)
  const timers = [
    setInterval(() => void Atomics.add(beats, index, 1), beatMs),
    setInterval(() => own.tell(false), tellMs),
    setInterval(() => known.forget(), forgetMs),
  ]
  if (mechanisms().idleCollections) collectWhenIdle()
  try {
    await app.listen(host, listenOn, true)
    out.say(['listens'])
    await Promise.race([told, closed(port), failed])
  } finally {
    for (const timer of timers) clearInterval(timer)
    app.stopListening()
    app.close()
    own.tell(true)
    shards.close()
    options.chunks.close()
    await new Promise(resolve => setTimeout(resolve, closedMs))
  }
}

interface Own {
  readonly requests: OwnRequests
  readonly checks: FrontChecks
  readonly events: FrontEvents
  /** Tell what was answered here. all: counts of just now, too. */
  tell(all: boolean): void
}

/** The requests that this front answers itself. */
function ownRequests(
  options: FrontOptions,
  parts: {
    readonly passing: Passing
    readonly out: Gathered<FromFront>
    readonly known: KnownKeys
    readonly shards: ShardPorts
    readonly figures: FrontFigures
    readonly unread: UnreadAnswers
  },
): Own {
  const { out, known } = parts
  const names = new NameReader(options.names, () => {
    const next = receiveMessageOnPort(options.chunks)
    return next === undefined ? null : (next.message as NamesChunk)
  })
  const answers = new ResponseCache(new Changes(options.changes), names, options.records, options.threads)
  const wall = new WallClock(options.floorMs)
  const requests = new OwnRequests({
    ...parts,
    budgets: new FrontBudgets(new BucketCells(options.buckets), facts => known.holds(facts)),
    cors: new Cors(options.corsOrigins),
    aheadMs: monotonicMs() - performance.now() - options.zeroMs,
    keyHeaders: options.apiKeyHeaders,
    environmentHeaders: options.environmentHeaders,
    slowRequestMs: options.slowRequestMs,
    name: `${Date.now().toString(36)}-f${options.index + 1}`,
  })
  const checks = new FrontChecks({ requests, names, answers, wall, shards: parts.shards })
  const { shards: count, trustProxy, bodiesBytesMax } = options
  const { shards } = parts
  const events = new FrontEvents({ requests, names, shards, count, trustProxy, bodiesBytesMax })
  // in parts, so that checks are answered in between
  const sweepSome = (): void => {
    if (answers.sweepSome()) setImmediate(sweepSome)
  }
  const tellSome = (all: boolean): void => {
    const counts = answers.takeCounts(performance.now(), all)
    if (counts === null) return sweepSome()
    out.say(['counts', counts])
    if (all) tellSome(all)
    else setImmediate(tellSome, all)
  }
  return {
    requests,
    checks,
    events,
    tell(all) {
      wall.now()
      answers.tick()
      if (requests.used.size > 0) out.say(['used', [...requests.used]])
      requests.used.clear()
      tellSome(all)
    },
  }
}
