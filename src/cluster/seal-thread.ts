// Steps of sealing (workers/sealer/sealer.ts), each in a thread of its own.
import { startThread, type Thread } from '../entities/shards/thread.js'
import type { SealStep } from '../redis/sealing.js'
import type { ClickHouseAddress } from '../storage/clickhouse.js'
import type { PostgresAddress } from '../storage/postgres.js'
import type { RedisAddress } from '../wire/shard-options.js'

const sealFile = new URL('../../served/sealer.js', import.meta.url)

export class SealThread {
  private thread: Thread | null = null
  private isStopped = false

  constructor(
    private readonly stores: {
      readonly redis: RedisAddress
      readonly postgres: PostgresAddress
      readonly clickhouse: ClickHouseAddress
    },
  ) {}

  /** Take a step. errors: those of the stores; the step was not taken, or in part. */
  readonly run = async (step: SealStep): Promise<void> => {
    if (this.isStopped) throw new Error('this node stops')
    const thread = startThread(sealFile, port => ({ ...this.stores, port, step }))
    this.thread = thread
    try {
      await thread.ended
    } finally {
      this.thread = null
      thread.port.close()
      await thread.destroy()
    }
  }

  /** End the step that is being taken, and take no more. */
  async stop(): Promise<void> {
    this.isStopped = true
    await this.thread?.destroy()
  }
}
