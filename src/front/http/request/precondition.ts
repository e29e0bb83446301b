// Lost updates (decision 38): the tag of a definition as it was read, and writes that hold only while it is the same.
import { createHash } from 'node:crypto'
import type { Sql } from 'postgres'
import type { ChangeScope } from '../../../catalog/cache.js'
import { ServiceError } from '../../../errors.js'
import { jsonText } from '../../../json.js'
import type { Answer } from '../../../kit/call.js'
import type { Services } from '../../../kit/services.js'
import { SharedReads } from '../../../kit/shared-reads.js'
import type { Route } from '../routing/route.js'
import { awaited } from './begin-anew.js'
import type { Request } from './request.js'

/** In lower case, as heads give it. */
export const matchHeader = 'if-match'

/** Members that change without a write of the definition: counts, and what says that or when it was used. */
const moving: ReadonlySet<string> = new Set([
  'company_count',
  'company_override_count',
  'event_summary',
  'has_grants',
  'last_checked_at',
  'last_seen_at',
  'last_used_at',
  'subscription_count',
  'user_count',
])

/**
 * The strong tag of a definition as its GET answers it, without the members that change by themselves, and with a change that
 * waits.
 */
export function tagOf({ data, json, waiting }: Answer): string {
  const text = (json ?? jsonText(settled(data ?? null))) + (waiting ?? '')
  return `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`
}

function settled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(settled)
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value
  const kept: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) if (!moving.has(name)) kept[name] = settled(member)
  return kept
}

const oneTag = /(?:W\/)?"[\x21\x23-\x7e]*"/
const manyTags = new RegExp(`^\\s*${oneTag.source}(?:\\s*,\\s*${oneTag.source})*\\s*$`)

/**
 * The tags of an If-Match; null: `*`, anything that is there.
 *
 * errors  value_invalid (400) for another text.
 */
function tagsOf(header: string): ReadonlySet<string> | null {
  if (header.trim() === '*') return null
  if (!manyTags.test(header))
    throw new ServiceError('value_invalid', 'If-Match: take it as ETag of the read gave it, in its quotes')
  return new Set(header.match(new RegExp(oneTag, 'g')))
}

/** The catalogs that a precondition reads in a transaction. */
type Catalogs = Services['catalogs']

/** The If-Match of one write. */
export class Precondition {
  private readonly tags: ReadonlySet<string> | null
  /** Held under the lock of a change: what the request changes afterwards is its own. */
  private isHeld = false

  /**
   * read      the GET of the definition that is written.
   * catalogs  where the definitions as a transaction sees them are read.
   * errors    value_invalid (400) for a header that is no list of tags.
   */
  constructor(
    private readonly read: Route,
    header: string,
    private readonly catalogs: Catalogs,
  ) {
    this.tags = tagsOf(header)
  }

  /**
   * The same services, whose first change of definitions asks again under its lock: of two writes with one tag, one
   * holds. `call` is asked for when the change begins.
   */
  services(services: Services, call: () => Request): Services {
    const { catalogs } = services
    const change = <T>(scope: ChangeScope, work: (sql: Sql) => Promise<T>): Promise<T> =>
      catalogs.change(scope, async tx => {
        await this.holdWithin(tx, call())
        return work(tx)
      })
    return { ...services, catalogs: { get: id => catalogs.get(id), change } }
  }

  /** The same route, which asks before its handler begins, too: some have work to do before the change. */
  route(route: Route): Route {
    const handle = async (call: Parameters<Route['handle']>[0]): Promise<Answer> => {
      await this.hold(call as Request)
      return awaited(route.handle(call))
    }
    return { ...route, handle }
  }

  /** Asks in the transaction of a change, under its lock. errors: precondition_failed (412). */
  async holdWithin(tx: Sql, call: Request): Promise<void> {
    if (this.isHeld) return
    this.isHeld = true
    const { services, environmentOrNull: environment } = call
    const fresh = environment === null ? null : await this.catalogs.within?.(tx, environment.id)
    const within: Services = {
      ...services,
      sql: tx,
      // counts of events are no part of a tag, and the lock does not wait for them
      clickhouse: { ...services.clickhouse, select: () => Promise.reject(new ServiceError('store_away')) },
      reads: new SharedReads(),
      catalogs: {
        get: id => (fresh?.environmentId === id ? fresh : services.catalogs.get(id)),
        change: services.catalogs.change,
      },
    }
    await this.hold(call.under(within, async () => {}))
  }

  /** errors  precondition_failed (412) where the definition is another by now; those of the read. */
  private async hold(call: Request): Promise<void> {
    const asked = this.read.query === null ? {} : this.read.query.read('').query
    const answer = await awaited(this.read.handle(call.withBody(undefined).withQuery(asked)))
    if (this.tags !== null && !this.tags.has(tagOf(answer))) throw new ServiceError('precondition_failed')
  }
}
