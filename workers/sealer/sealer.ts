// The entry of a thread that seals idempotency keys of past hours, or deletes sealed ones from Redis: one step, then it ends.
// Building filters takes seconds of CPU time that no other thread of a node has to spare.
import { claimsAtOnce, eventClaims } from '../../src/analytics/history.js'
import { markForgotten, storeSpan } from '../../src/redis/sealed-keys.js'
import { buildSpan, forgetSpan, type SealStep } from '../../src/redis/sealing.js'
import { RedisSlots } from '../../src/redis/slots.js'
import { type ClickHouseAddress, openClickHouse } from '../../src/storage/clickhouse.js'
import { closePostgres, openPostgres, type PostgresAddress } from '../../src/storage/postgres.js'
import type { Port } from '../../src/wire/port.js'
import type { RedisAddress } from '../../src/wire/shard-options.js'

/** Pages of claims that a statement of ClickHouse reads may take this long. */
const pageMs = 60_000

interface SealTask {
  readonly port: Port
  readonly redis: RedisAddress
  readonly postgres: PostgresAddress
  readonly clickhouse: ClickHouseAddress
  readonly step: SealStep
}

/** Runs one step. errors: those of the stores; the step may be repeated. */
export default async function seal({ redis, postgres, clickhouse, step }: SealTask): Promise<void> {
  const sql = openPostgres(postgres, { max: 1 })
  const store = openClickHouse(clickhouse, { max: 1, requestTimeoutMs: pageMs })
  try {
    if ('seal' in step) {
      const { fromMs, toMs } = step.seal
      await storeSpan(sql, await buildSpan(eventClaims(store, fromMs, claimsAtOnce).pages(), fromMs, toMs))
      return
    }
    const slots = await RedisSlots.open(redis)
    try {
      await forgetSpan(eventClaims(store, step.forget.fromMs, claimsAtOnce).pages(), step.forget, slots)
      await markForgotten(sql, step.forget.toMs)
    } finally {
      await slots.close()
    }
  } finally {
    await Promise.all([closePostgres(sql, 1_000), store.close()])
  }
}
