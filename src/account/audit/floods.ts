// Bounds the rows that refused requests and recorded reads of one key add to the audit log, which is kept for ever. The
// others are counted, as failed logins are.
// source: security M2; the numbers: decisions.
import type { RequestedChange } from './row.js'

/** Time that one count covers, ms. */
export const countedForMs = 10_000
/** Rows of one key in that time: of refused requests, and of reads. A publishable key, which anybody has, gets none. */
const rowsMax = { refused: 20, read: 100 } as const
/** Counts kept apart; beyond them requests are only counted. */
const countsMax = 20
/** Keys looked at in one time; beyond them every request counts as one too many. */
const keysMax = 10_000

/** Requests that have no row of their own. */
export interface Counted {
  readonly api_key_id: string
  readonly method: string
  readonly path: string
  readonly status: number
  readonly remote_ip: string
  count: number
}

interface Flood {
  readonly count: number
  readonly samples: readonly Counted[]
}

type Kind = keyof typeof rowsMax

/** Decides which requests get a row, and counts the others until they are taken. */
export class Floods {
  private readonly rows = { refused: new Map<string, number>(), read: new Map<string, number>() }
  private readonly counts = { refused: new Map<string, Counted>(), read: new Map<string, Counted>() }
  private readonly totals = { refused: 0, read: 0 }

  /** Whether the request gets a row of its own. Changes that were made always do. */
  admits(change: RequestedChange): boolean {
    const { key, status } = change
    const refused = status >= 400 && status < 500
    const kind: Kind | null = refused ? 'refused' : change.kind === 'read' ? 'read' : null
    if (kind === null) return true
    const rows = this.rows[kind]
    const had = rows.get(key.id) ?? 0
    if (key.kind === 'secret' && had < rowsMax[kind] && (had > 0 || rows.size < keysMax)) {
      rows.set(key.id, had + 1)
      return true
    }
    this.count(kind, change)
    return false
  }

  private count(kind: Kind, { key, method, path, status, remoteIp }: RequestedChange): void {
    const counts = this.counts[kind]
    this.totals[kind]++
    const name = `${key.id} ${method} ${path} ${status}`
    const known = counts.get(name)
    if (known !== undefined) known.count++
    else if (counts.size < countsMax)
      counts.set(name, { api_key_id: key.id, method, path, status, remote_ip: remoteIp, count: 1 })
  }

  /** Counts of a kind since the last call; null: nothing. */
  take(kind: Kind): Flood | null {
    const count = this.totals[kind]
    const samples = [...this.counts[kind].values()]
    this.totals[kind] = 0
    this.counts[kind].clear()
    return count === 0 ? null : { count, samples }
  }

  /** Give every key its rows anew. */
  renew(): void {
    this.rows.refused.clear()
    this.rows.read.clear()
  }
}
