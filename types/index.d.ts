// The types of the package, kept by hand: test/house/package.test.ts holds them against what there is.

/** A whole number, or its digits. */
type Whole = number | `${number}`
type Truth = boolean | 'true' | 'false'

/** The settings of the README, under the same names and with the same defaults. The environment is not read. */
export interface Settings {
  readonly TOLLGATE_ACTORS_MAX?: Whole | undefined
  readonly TOLLGATE_API_KEY_HEADERS?: string | undefined
  readonly TOLLGATE_AUTH_FAILURES_PER_SECOND?: Whole | undefined
  readonly TOLLGATE_BODIES_BYTES_MAX?: Whole | undefined
  readonly TOLLGATE_CHECKPOINT_INTERVAL_MS?: Whole | undefined
  readonly TOLLGATE_CHUNKED_BODIES?: Truth | undefined
  readonly TOLLGATE_CLICKHOUSE_THROTTLE?: Truth | undefined
  readonly TOLLGATE_CLOCK_BACK?: Truth | undefined
  readonly TOLLGATE_COMPANIES_MAX?: Whole | undefined
  readonly TOLLGATE_COMPANY_VIEWS_BYTES?: Whole | undefined
  readonly TOLLGATE_CONNECTIONS_MAX?: Whole | undefined
  readonly TOLLGATE_CONNECTIONS_PER_ADDRESS?: Whole | undefined
  readonly TOLLGATE_CORS_ORIGINS?: string | undefined
  readonly TOLLGATE_IDLE_COLLECTIONS?: Truth | undefined
  readonly TOLLGATE_PUBLIC_URL?: string | undefined
  readonly TOLLGATE_OIDC_ISSUER?: string | undefined
  readonly TOLLGATE_OIDC_CLIENT_ID?: string | undefined
  readonly TOLLGATE_OIDC_CLIENT_SECRET?: string | undefined
  readonly TOLLGATE_OIDC_DOMAINS?: string | undefined
  readonly TOLLGATE_OIDC_ROLES?: string | undefined
  readonly TOLLGATE_OIDC_SCOPES?: string | undefined
  readonly TOLLGATE_OIDC_GROUPS_CLAIM?: string | undefined
  readonly TOLLGATE_DATA_DIR?: string | undefined
  readonly TOLLGATE_DENIED_ROWS_PER_MINUTE?: Whole | undefined
  readonly TOLLGATE_DENIED_ROWS_PER_SECOND?: Whole | undefined
  readonly TOLLGATE_DRAIN_MS?: Whole | undefined
  readonly TOLLGATE_ENVIRONMENT_HEADERS?: string | undefined
  readonly TOLLGATE_EVENT_NAMES_MAX?: Whole | undefined
  readonly TOLLGATE_FLAG_CHECK_ROWS_PER_SECOND?: Whole | undefined
  readonly TOLLGATE_FRONTS?: Whole | undefined
  readonly TOLLGATE_HOST?: string | undefined
  readonly TOLLGATE_HTTP?: 'auto' | 'uws' | 'node' | undefined
  readonly TOLLGATE_IDEMPOTENCY_BYTES?: Whole | undefined
  readonly TOLLGATE_JOURNAL_BACKLOG_BYTES?: Whole | undefined
  readonly TOLLGATE_JOURNAL_PENDING_BYTES?: Whole | undefined
  readonly TOLLGATE_JOURNAL_SEGMENT_BYTES?: Whole | undefined
  readonly TOLLGATE_KEY_NAMES_MAX?: Whole | undefined
  readonly TOLLGATE_DEFINITIONS_MAX?: Whole | undefined
  readonly TOLLGATE_LIMITS?: string | undefined
  readonly TOLLGATE_LIMITS_SCOPE?: 'account' | 'environment' | undefined
  readonly TOLLGATE_LOG_LEVEL?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent' | undefined
  readonly TOLLGATE_MEMBERS_FILE?: string | undefined
  readonly TOLLGATE_METRICS_ADDRESS?: string | undefined
  readonly TOLLGATE_PARSE_THREADS?: Whole | undefined
  readonly TOLLGATE_PORT?: Whole | undefined
  readonly TOLLGATE_SHARDS?: Whole | undefined
  readonly TOLLGATE_SHARED_PORT?: Truth | undefined
  readonly TOLLGATE_SLOW_REQUEST_MS?: Whole | undefined
  readonly TOLLGATE_THREAD_PRIORITIES?: Truth | undefined
  readonly TOLLGATE_TRUST_PROXY?: Truth | undefined
  readonly TOLLGATE_USERS_MAX?: Whole | undefined
  readonly TOLLGATE_WEBHOOK_PENDING_BYTES?: Whole | undefined
  readonly TOLLGATE_WEBHOOK_PLAIN_HTTP?: Truth | undefined
  readonly TOLLGATE_WEBHOOK_PRIVATE_ADDRESSES?: Truth | undefined
  readonly TOLLGATE_STREAM_CONNECTIONS_MAX?: Whole | undefined
  readonly TOLLGATE_STREAM_CONNECTIONS_PER_KEY_MAX?: Whole | undefined
  readonly TOLLGATE_STREAM_PAGES_MAX?: Whole | undefined
  readonly TOLLGATE_STREAM_ENTITIES_MAX?: Whole | undefined
  readonly TOLLGATE_STREAM_MESSAGES_PER_SECOND?: Whole | undefined
  readonly TOLLGATE_STREAM_BUFFER_BYTES?: Whole | undefined
  readonly TOLLGATE_WEBHOOK_RETRY_MS?: Whole | undefined
  readonly TOLLGATE_WRITES_BEHIND_MAX?: Whole | undefined
  readonly OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined
  readonly OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?: string | undefined
  readonly OTEL_SDK_DISABLED?: Truth | undefined
  readonly OTEL_TRACES_EXPORTER?: string | undefined
  // secrets, and where each may be named as a file instead
  readonly TOLLGATE_BOOTSTRAP_KEY?: string | undefined
  readonly TOLLGATE_BOOTSTRAP_KEY_FILE?: string | undefined
  readonly TOLLGATE_PEPPER?: string | undefined
  readonly TOLLGATE_PEPPER_FILE?: string | undefined
  readonly TOLLGATE_PEPPER_PREVIOUS?: string | undefined
  readonly TOLLGATE_PEPPER_PREVIOUS_FILE?: string | undefined
  readonly TOLLGATE_BACKUP_KEY?: string | undefined
  readonly TOLLGATE_BACKUP_KEY_FILE?: string | undefined
  readonly TOLLGATE_METRICS_TOKEN?: string | undefined
  readonly TOLLGATE_METRICS_TOKEN_FILE?: string | undefined
  readonly DATABASE_URL?: string | undefined
  readonly DATABASE_URL_FILE?: string | undefined
  readonly TOLLGATE_POSTGRES_POOLER?: Truth | undefined
  readonly TOLLGATE_POSTGRES_CONNECTIONS?: number | string | undefined
  readonly CLICKHOUSE_URL?: string | undefined
  readonly CLICKHOUSE_URL_FILE?: string | undefined
  readonly REDIS_URL?: string | undefined
  readonly REDIS_URL_FILE?: string | undefined
  readonly TOLLGATE_CLUSTER_SECRET?: string | undefined
  readonly TOLLGATE_CLUSTER_SECRET_FILE?: string | undefined
  readonly TOLLGATE_CLUSTER_SHARDS?: string | undefined
  readonly TOLLGATE_NODE_TLS_CERT?: string | undefined
  readonly TOLLGATE_NODE_TLS_KEY?: string | undefined
  readonly TOLLGATE_NODE_TLS_CA?: string | undefined
  readonly TOLLGATE_NODE_ID?: string | undefined
  readonly TOLLGATE_NODE_LISTEN?: string | undefined
  readonly TOLLGATE_NODE_ADDRESS?: string | undefined
  readonly TOLLGATE_REDIS_DURABILITY?: 'fsync' | 'accept-loss' | `replicas:${number}` | undefined
  readonly TOLLGATE_REDIS_KEYS_MS?: number | string | undefined
  readonly TOLLGATE_LEASE_MS?: number | string | undefined
}

/** A Tollgate that serves. */
export interface RunningTollgate {
  /** Where it listens: the free port that was found, when the setting was 0. */
  readonly port: number
  /** How this machine reaches it, such as `http://127.0.0.1:8080`. */
  readonly url: string
  /** The first key: the setting's value, or the one that is kept in the data directory; null when there is none. */
  readonly bootstrapKey: string | null
  /** Answers what is in flight, flushes, writes snapshots, closes. Safe to call twice. */
  stop(): Promise<void>
}

/**
 * Serve inside this process. Signals are the caller's to handle.
 *
 * Rejects for a wrong or unknown setting, and for whatever keeps Tollgate from starting; then everything is closed again.
 */
export function start(settings?: Settings): Promise<RunningTollgate>
