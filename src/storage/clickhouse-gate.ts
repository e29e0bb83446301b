// A ClickHouse that is not asked before it has its schema: it was away when the start migrated the stores.
import { ServiceError } from '../errors.js'
import type { ClickHouse } from './clickhouse.js'

/** Every method says that ClickHouse is away until `open`. */
export class ClickHouseGate implements ClickHouse {
  private isOpen = false

  constructor(private readonly store: ClickHouse) {}

  open(): void {
    this.isOpen = true
  }

  get client(): ClickHouse['client'] {
    return this.passed.client
  }

  select: ClickHouse['select'] = async (...asked) => this.passed.select(...asked)
  insertRaw: ClickHouse['insertRaw'] = async options => this.passed.insertRaw(options)
  command: ClickHouse['command'] = async (...asked) => this.passed.command(...asked)

  async *bytes(...asked: Parameters<ClickHouse['bytes']>): AsyncGenerator<Buffer> {
    yield* this.passed.bytes(...asked)
  }

  async healthy(): Promise<boolean> {
    return this.isOpen && this.store.healthy()
  }

  close(): Promise<void> {
    return this.store.close()
  }

  private get passed(): ClickHouse {
    if (!this.isOpen) throw new ServiceError('store_away', 'ClickHouse is away; try again')
    return this.store
  }
}
