// Subscriptions of keys as Postgres keeps them, so that they hold over a restart of the service and on every node.
import type { Logger } from 'pino'
import type { Sql } from 'postgres'
import type { EntityKind } from './frames.js'

/** Subscriptions are kept for ten minutes after the last connection of their key, which is known to a minute. */
const keptMinutes = 11
/** Delay before a write that failed is made again, ms. */
const retryMs = 1_000

/** An entity that connections of a key subscribed to. */
interface KeptSubscription {
  readonly kind: EntityKind
  readonly id: string
}

/** A key of an environment. */
interface StreamKey {
  readonly environmentId: string
  readonly keyId: string
}

interface Change extends StreamKey, KeptSubscription {
  readonly isKept: boolean
}

/**
 * Reads subscriptions, and writes changes of them behind the stream, together and in the order of their making. While
 * Postgres is away the latest change of each subscription waits. A kill loses the changes of its last milliseconds.
 */
export class KeptSubscriptions {
  private changes = new Map<string, Change>()
  private seenKeys = new Map<string, StreamKey>()
  private readonly reads = new Map<string, Promise<readonly KeptSubscription[]>>()
  private isWriting = false

  constructor(
    private readonly sql: Sql,
    private readonly log: Logger,
  ) {}

  /** Keep a subscription of a key, or drop it. */
  set(environmentId: string, keyId: string, kind: EntityKind, id: string, isKept: boolean): void {
    this.changes.set(`${environmentId} ${keyId} ${id}`, { environmentId, keyId, kind, id, isKept })
    this.seen(environmentId, keyId)
  }

  /** A connection of a key is open, or was until now. */
  seen(environmentId: string, keyId: string): void {
    this.seenKeys.set(`${environmentId} ${keyId}`, { environmentId, keyId })
    if (this.isWriting) return
    this.isWriting = true
    setImmediate(() => this.write())
  }

  /**
   * Subscriptions of a key whose connections ended a short while ago. Questions at the same time share an answer.
   *
   * errors  those of Postgres.
   */
  read(environmentId: string, keyId: string): Promise<readonly KeptSubscription[]> {
    const name = `${environmentId} ${keyId}`
    let read = this.reads.get(name)
    if (read === undefined) {
      read = this.ask(environmentId, keyId).finally(() => this.reads.delete(name))
      this.reads.set(name, read)
    }
    return read
  }

  private async ask(environmentId: string, keyId: string): Promise<readonly KeptSubscription[]> {
    return this.sql<KeptSubscription[]>`
      with old as (delete from stream_keys where seen_at <= now() - ${keptMinutes} * interval '1 minute')
      select s.kind, s.entity_id as id
      from stream_subscriptions s join stream_keys k using (environment_id, api_key_id)
      where environment_id = ${environmentId} and api_key_id = ${keyId}
        and k.seen_at > now() - ${keptMinutes} * interval '1 minute'`
  }

  private async write(): Promise<void> {
    while (this.seenKeys.size + this.changes.size > 0) {
      const { seenKeys, changes } = this
      this.seenKeys = new Map()
      this.changes = new Map()
      try {
        await this.store([...seenKeys.values()], [...changes.values()])
      } catch (error) {
        this.log.warn({ err: error }, 'subscriptions of the data stream are not kept yet')
        // A later change of the same subscription counts.
        this.seenKeys = new Map([...seenKeys, ...this.seenKeys])
        this.changes = new Map([...changes, ...this.changes])
        setTimeout(() => this.write(), retryMs).unref()
        return
      }
    }
    this.isWriting = false
  }

  /** Keys and environments that are gone meanwhile are passed over. */
  private async store(seen: readonly StreamKey[], changes: readonly Change[]): Promise<void> {
    const columns = (rows: readonly StreamKey[]) => [
      rows.map(({ environmentId }) => environmentId),
      rows.map(({ keyId }) => keyId),
    ]
    const [environments, keys] = columns(seen)
    const kept = changes.filter(({ isKept }) => isKept)
    const dropped = changes.filter(({ isKept }) => !isKept)
    await this.sql.begin(async tx => {
      // Subscriptions of a key that was not seen for so long have ended.
      await tx`
        delete from stream_keys k using unnest(${environments!}::text[], ${keys!}::text[]) as t (environment_id, api_key_id)
        where (k.environment_id, k.api_key_id) = (t.environment_id, t.api_key_id)
          and k.seen_at <= now() - ${keptMinutes} * interval '1 minute'`
      await tx`
        insert into stream_keys (environment_id, api_key_id, seen_at)
        select e.id, a.id, now()
        from unnest(${environments!}::text[], ${keys!}::text[]) as t (environment_id, api_key_id)
        join environments e on e.id = t.environment_id join api_keys a on a.id = t.api_key_id
        order by 1, 2
        on conflict (environment_id, api_key_id) do update set seen_at = excluded.seen_at`
      if (kept.length > 0)
        await tx`
          insert into stream_subscriptions (environment_id, api_key_id, kind, entity_id)
          select k.environment_id, k.api_key_id, t.kind, t.entity_id
          from unnest(
            ${columns(kept)[0]!}::text[], ${columns(kept)[1]!}::text[],
            ${kept.map(({ kind }) => kind)}::text[], ${kept.map(({ id }) => id)}::text[]
          ) as t (environment_id, api_key_id, kind, entity_id)
          join stream_keys k using (environment_id, api_key_id)
          order by 1, 2, 4
          on conflict do nothing`
      if (dropped.length > 0)
        await tx`
          delete from stream_subscriptions s
          using unnest(
            ${columns(dropped)[0]!}::text[], ${columns(dropped)[1]!}::text[], ${dropped.map(({ id }) => id)}::text[]
          ) as t (environment_id, api_key_id, entity_id)
          where (s.environment_id, s.api_key_id, s.entity_id) = (t.environment_id, t.api_key_id, t.entity_id)`
    })
  }
}
