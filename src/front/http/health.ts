// Health endpoints: alive and ready. No key, no rate limit, no envelope.
import { version } from '../../host/version.js'
import type { Reply } from './request/respond.js'

/** The state of the process, from the server's start. */
export interface Health {
  /** Serving: settings read, stores open or known to be down, journal replayed. */
  ready(): boolean
  /** Impaired parts by name: "clickhouse", "shard 1". Empty when all is well. */
  degraded(): readonly string[]
}

const liveBody = JSON.stringify({ status: 'live', version: version() })

/** GET /health/live: the event loop runs. Names the version. */
export function live(): Reply {
  return { status: 200, headers: '', body: liveBody }
}

/** GET /health/ready: 200 while serving, with the names of degraded parts; 503 before that and while stopping. */
export function ready(health: Health, draining: boolean): Reply {
  const degraded = health.degraded()
  if (health.ready() && !draining) {
    return { status: 200, headers: '', body: JSON.stringify({ status: 'ready', degraded }) }
  }
  const error = draining ? 'Stopping' : 'Starting'
  return { status: 503, headers: '\r\nRetry-After: 1', body: JSON.stringify({ error, degraded }) }
}
