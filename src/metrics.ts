// All metrics, under the names that /metrics shows. Label sets are bound once; the hot path only adds numbers.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { type RateLimitBucket, rateLimitBuckets } from '../schemas/enums.js'
import { version } from './host/version.js'

// Buckets of request latencies in seconds, from half the goal of a check to a slow analytics read. Few, because
// every route has each.
export const latencyBounds = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10]
const fsyncBounds = [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1]
const groupBounds = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 10_000]

type Labels = Readonly<Record<string, string>>

/** One number of a counter, incremented in place. prom-client hashes the labels at every increment. */
export interface Tally {
  count: number
}

/** A counter with plain numbers as children, collected when metrics are read. */
class TallyCounter extends Counter {
  private readonly children: { readonly labels: Labels; readonly tally: Tally; readonly line: string }[] = []
  private readonly heading: string
  private readonly named: string

  constructor(configuration: { name: string; help: string; labelNames: string[]; registers: Registry[] }) {
    super(configuration)
    this.named = configuration.name
    this.heading = headingOf(configuration.name, configuration.help, 'counter')
  }

  /** The same text that prom-client would write. */
  lines(): string {
    let text = this.heading
    for (const { tally, line } of this.children) if (tally.count > 0) text += `${line}${tally.count}\n`
    return text
  }

  /** A new child; call it once per label set. */
  child(labels: Labels): Tally {
    const tally = { count: 0 }
    this.children.push({ labels, tally, line: `${this.named}${labelsOf(labels)} ` })
    return tally
  }

  override async get() {
    const described = await super.get()
    // a child that never counted is left out
    const live = this.children.filter(({ tally }) => tally.count > 0)
    return { ...described, values: live.map(({ labels, tally }) => ({ labels, value: tally.count })) }
  }
}

const headingOf = (name: string, help: string, type: string): string =>
  `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`

function labelsOf(labels: Readonly<Record<string, string | number>>): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) =>
      `${name}="${String(value).replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')}"`,
  )
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

/** A histogram of durations or sizes with fixed buckets. */
export class Spread {
  private readonly counts: Float64Array
  private sum = 0
  private total = 0
  private before: string[] | null = null

  constructor(
    readonly labels: Labels,
    private readonly bounds: readonly number[],
  ) {
    this.counts = new Float64Array(bounds.length)
  }

  observe(value: number): void {
    this.sum += value
    this.total++
    for (let i = 0; i < this.bounds.length; i++) {
      if (value <= this.bounds[i]!) {
        this.counts[i]!++
        return
      }
    }
  }

  /** Add what another thread observed: the sum, and numbers by bucket with those beyond the last. */
  add(sum: number, counts: Readonly<Float64Array>, total: number): void {
    this.sum += sum
    this.total += total
    for (let i = 0; i < this.counts.length; i++) this.counts[i]! += counts[i]!
  }

  /** The values as lines of text; the text before each number is cached. */
  lines(name: string): string {
    if (this.total === 0) return ''
    if (this.before === null) {
      const bucket = (le: number | string) => `${name}_bucket${labelsOf({ ...this.labels, le })} `
      this.before = [...this.bounds.map(bucket), bucket('+Inf')]
      this.before.push(`${name}_sum${labelsOf(this.labels)} `, `${name}_count${labelsOf(this.labels)} `)
    }
    const { before, bounds } = this
    let text = ''
    let below = 0
    for (let i = 0; i < bounds.length; i++) {
      below += this.counts[i]!
      text += `${before[i]}${below}\n`
    }
    const at = bounds.length
    return `${text}${before[at]}${this.total}\n${before[at + 1]}${this.sum}\n${before[at + 2]}${this.total}\n`
  }

  /** The values in prom-client's form: cumulative buckets, sum, count; empty without observations. */
  values(name: string) {
    if (this.total === 0) return []
    let below = 0
    const buckets = this.bounds.map((le, i) => {
      below += this.counts[i]!
      return { metricName: `${name}_bucket`, labels: { ...this.labels, le }, value: below }
    })
    return [
      ...buckets,
      { metricName: `${name}_bucket`, labels: { ...this.labels, le: '+Inf' }, value: this.total },
      { metricName: `${name}_sum`, labels: this.labels, value: this.sum },
      { metricName: `${name}_count`, labels: this.labels, value: this.total },
    ]
  }
}

class SpreadHistogram extends Histogram {
  private readonly children: Spread[] = []

  constructor(
    private readonly family: string,
    private readonly help: string,
    labelNames: readonly string[],
    private readonly bounds: readonly number[],
    registry: Registry,
  ) {
    super({ name: family, help, labelNames: [...labelNames], buckets: [...bounds], registers: [registry] })
  }

  child(labels: Labels): Spread {
    const spread = new Spread(labels, this.bounds)
    this.children.push(spread)
    return spread
  }

  lines(): string {
    let text = headingOf(this.family, this.help, 'histogram')
    for (const child of this.children) text += child.lines(this.family)
    return text
  }

  /** Called by prom-client for either output format. */
  async getForPromString() {
    const { family, help } = this
    const values = this.children
      .flatMap(child => child.values(family))
      .map(each => ({ ...each, sharedLabels: {} }))
    return { name: family, help, type: 'histogram', aggregator: 'sum', values }
  }
}

/** Makers of families in one registry. */
interface Families {
  counter(name: string, help: string, ...labelNames: string[]): TallyCounter
  gauge(name: string, help: string, ...labelNames: string[]): Gauge
  spread(name: string, help: string, bounds: readonly number[], ...labelNames: string[]): SpreadHistogram
}

/** Create all metric families. One per process; threads report to the main thread. */
export function createMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const { families, text } = familiesOf(registry)
  families
    .gauge('tollgate_build_info', 'Always 1; its labels name what runs', 'version', 'node')
    .set({ version: version(), node: process.versions.node }, 1)
  return {
    registry,
    text,
    ...requestFamilies(families),
    ...eventFamilies(families),
    ...shardFamilies(families),
    ...nodeFamilies(families),
    ...quotaFamilies(families),
  }
}

/** Makers of families, and the text of all that they made: large ones written here, others by prom-client. */
function familiesOf(registry: Registry): { families: Families; text(): Promise<string> } {
  const own: { readonly family: string; lines(): string }[] = []
  const counter = (name: string, help: string, ...labelNames: string[]) => {
    const made = new TallyCounter({ name, help, labelNames, registers: [registry] })
    own.push({ family: name, lines: () => made.lines() })
    return made
  }
  const gauge = (name: string, help: string, ...labelNames: string[]) =>
    new Gauge({ name, help, labelNames, registers: [registry] })
  const spread = (name: string, help: string, bounds: readonly number[], ...labelNames: string[]) => {
    const made = new SpreadHistogram(name, help, labelNames, bounds, registry)
    own.push({ family: name, lines: () => made.lines() })
    return made
  }
  const text = async (): Promise<string> => {
    const large = new Set(own.map(({ family }) => family))
    const others = registry.getMetricsAsArray().filter(({ name }) => !large.has(name))
    const parts = await Promise.all(others.map(({ name }) => registry.getSingleMetricAsString(name)))
    return `${[...parts.map(part => `${part}\n`), ...own.map(one => one.lines())].join('\n')}`
  }
  return { families: { counter, gauge, spread }, text }
}

/** Requests, refusals, the data stream and bodies. */
function requestFamilies({ counter, gauge, spread }: Families) {
  const requests = counter('tollgate_http_requests_total', 'Requests answered', 'route', 'status')
  const durations = spread(
    'tollgate_http_request_seconds',
    'From the head of a request to its answer',
    latencyBounds,
    'route',
  )
  const rejected = counter('tollgate_rate_limited_total', 'Requests refused by a rate limit', 'bucket')
  const authFailures = counter(
    'tollgate_auth_failures_total',
    'Requests without a key that is known, and requests refused because their address sent too many',
    'reason',
  )
  const refused = counter(
    'tollgate_connections_refused_total',
    'Connections closed at once because as many as may be were open',
    'bound',
  )
  const largeBodies = counter('tollgate_large_bodies_total', 'Bodies read on another thread', 'outcome')
  return {
    http: {
      requests,
      durations,
      rejected: Object.fromEntries(
        rateLimitBuckets.map(bucket => [bucket, rejected.child({ bucket })]),
      ) as Record<RateLimitBucket, Tally>,
      aborted: counter('tollgate_http_aborted_total', 'Requests whose caller left before the answer').child(
        {},
      ),
      inFlight: gauge('tollgate_http_in_flight', 'Requests being answered'),
    },
    connectionsRefused: {
      total: refused.child({ bound: 'total' }),
      address: refused.child({ bound: 'address' }),
    },
    stream: {
      connections: gauge('tollgate_stream_connections', 'Connections to the data stream'),
      held: gauge('tollgate_stream_entities', 'Companies and users that the data stream is subscribed to'),
      messages: counter('tollgate_stream_messages_total', 'Messages sent over the data stream').child({}),
      slow: counter(
        'tollgate_stream_slow_total',
        'Connections to the data stream closed because they read too slowly',
      ).child({}),
    },
    /** Children by route and reason, where there are extra fronts. */
    passedOn: counter(
      'tollgate_front_passed_on_total',
      'Requests that extra fronts left to the main thread',
      'route',
      'reason',
    ),
    authFailures: {
      missing: authFailures.child({ reason: 'missing' }),
      unknown: authFailures.child({ reason: 'unknown' }),
      limited: authFailures.child({ reason: 'limited' }),
    },
    largeBodies: {
      parsed: largeBodies.child({ outcome: 'parsed' }),
      refused: largeBodies.child({ outcome: 'refused' }),
      lost: largeBodies.child({ outcome: 'lost' }),
      left: largeBodies.child({ outcome: 'left' }),
      bytes: gauge('tollgate_large_bodies_bytes', 'Bytes of large bodies that are being read or taken'),
    },
  }
}

/** Events, checks and views of companies. */
function eventFamilies({ counter, gauge }: Families) {
  const events = counter('tollgate_events_total', 'Events by what became of them', 'outcome')
  return {
    events: {
      accepted: events.child({ outcome: 'accepted' }),
      applied: events.child({ outcome: 'applied' }),
      duplicate: events.child({ outcome: 'duplicate' }),
      failed: events.child({ outcome: 'failed' }),
      differing: counter(
        'tollgate_events_differing_total',
        'Duplicates whose content differs from that of the first event with their idempotency key',
      ).child({}),
      windowFull: counter(
        'tollgate_dedupe_refused_total',
        'Requests refused because their part of the idempotency window is full',
      ).child({}),
    },
    checks: counter('tollgate_flag_checks_total', 'Flags evaluated for callers').child({}),
    checksAgain: counter(
      'tollgate_flag_checks_again_total',
      'Of these, answered again with what still stands',
    ).child({}),
    companyViews: {
      again: counter(
        'tollgate_company_views_again_total',
        'Companies read one by one and answered again with what still stands',
      ).child({}),
      bytes: gauge('tollgate_company_view_bytes', 'Bytes of views of companies that are kept'),
    },
  }
}

/** Journals, actors and projectors of shards. */
function shardFamilies({ counter, gauge, spread }: Families) {
  return {
    /** Children per shard: `groupRecords.child({ shard: '0' })`. */
    journal: {
      groupRecords: spread('tollgate_journal_group_records', 'Records per group write', groupBounds, 'shard'),
      fsyncSeconds: spread('tollgate_journal_fsync_seconds', 'Time of one group fsync', fsyncBounds, 'shard'),
      backlogBytes: gauge(
        'tollgate_journal_backlog_bytes',
        'Journal kept for projectors and checkpoints',
        'shard',
      ),
    },
    actors: {
      count: gauge('tollgate_actors', 'Companies, users and environments in memory', 'shard'),
      bytes: gauge('tollgate_actor_bytes', 'Heap of a shard thread', 'shard'),
      coldLoads: counter('tollgate_cold_loads_total', 'Actors loaded from storage', 'shard'),
      wholesAgain: counter(
        'tollgate_all_flags_again_total',
        'Checks of all flags answered again with what still stands',
        'shard',
      ),
      queueDepth: gauge(
        'tollgate_shard_queue_depth',
        'Messages posted to a shard and not yet answered',
        'shard',
      ),
    },
    projector: {
      lagRecords: gauge('tollgate_projector_lag_records', 'Durable records a store has not seen', 'store'),
      lagSeconds: gauge('tollgate_projector_lag_seconds', 'Age of the oldest of them', 'store'),
      clickhouseYields: gauge(
        'tollgate_clickhouse_yields',
        'Whether the embedded ClickHouse gives way to requests altogether',
      ),
    },
  }
}

/** Nodes, and what they tell others. */
function nodeFamilies({ counter, gauge, spread }: Families) {
  return {
    /** Figures of one node among several, by its name. */
    cluster: {
      shards: gauge('tollgate_cluster_shards', 'Shards that this node owns', 'node'),
      allShards: gauge('tollgate_cluster_shards_all', 'Shards of the cluster'),
      leaseSeconds: gauge('tollgate_cluster_lease_seconds', 'Time that the lease of this node holds', 'node'),
      epochChanges: counter(
        'tollgate_cluster_epoch_changes_total',
        'By how much the epochs of shards rose: each owner that took one, each write that failed',
      ).child({}),
      passedOn: counter(
        'tollgate_cluster_passed_on_total',
        'Requests to shards that were passed on to the nodes that own them',
      ).child({}),
      redisSeconds: spread(
        'tollgate_cluster_redis_seconds',
        'Time until Redis renewed the lease of this node and told of the others',
        fsyncBounds,
      ).child({}),
    },
    notificationsDropped: counter(
      'tollgate_webhook_notifications_dropped_total',
      'Notifications given up because too many waited in their environment',
    ).child({}),
  }
}

/** Idempotency keys and quotas. */
function quotaFamilies({ counter, gauge }: Families) {
  const quotaRefused = counter(
    'tollgate_quota_refused_total',
    'Writes and events refused because a quota of their environment is used up',
    'quota',
  )
  return {
    dedupeKeys: gauge('tollgate_dedupe_keys', 'Idempotency keys in the window'),
    quotaUsed: gauge(
      'tollgate_quota_used',
      'Part of a quota that an environment has used, from nine tenths on',
      'environment',
      'quota',
    ),
    quotaRefused: {
      companies: quotaRefused.child({ quota: 'companies' }),
      users: quotaRefused.child({ quota: 'users' }),
      key_names: quotaRefused.child({ quota: 'key_names' }),
      event_names: quotaRefused.child({ quota: 'event_names' }),
    },
    dedupeFull: gauge(
      'tollgate_dedupe_full',
      'Parts of the idempotency window into which no other key fits',
      'environment',
      'keys',
    ),
  }
}

export type Metrics = ReturnType<typeof createMetrics>
