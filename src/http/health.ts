// What an operator's tools ask: alive, ready, and the numbers. No key, no limit, no envelope.
import type { Reply } from './request/respond.js'

/** The state of the process, as main knows it. */
export interface Health {
  /** Serving: settings read, stores open or known to be away, journal replayed. */
  ready(): boolean
  /** What works less well than it should, by name: "clickhouse", "shard 1". Empty when all is well. */
  degraded(): readonly string[]
}

/** GET /health/live: the process turns. */
export function live(): Reply {
  return { status: 200, headers: '', body: '{"status":"live"}' }
}

/** GET /health/ready: 200 when serving, also with something degraded, which it names; 503 before and while stopping. */
export function ready(health: Health, draining: boolean): Reply {
  const degraded = health.degraded()
  if (health.ready() && !draining) {
    return { status: 200, headers: '', body: JSON.stringify({ status: 'ready', degraded }) }
  }
  const error = draining ? 'Stopping' : 'Starting'
  return { status: 503, headers: '\r\nRetry-After: 1', body: JSON.stringify({ error, degraded }) }
}
