// The stores as requests reach them: each environment's statements wait in a queue of their own (security 5).
// Changes of definitions, which have other connections, take turns by environment too. Checks and events ask no store and
// never come here; projectors and jobs have connections of their own.
import type { Sql } from 'postgres'
import type { DefinitionChanges } from '../../catalog/cache.js'
import type { ClickHouse } from '../../storage/clickhouse.js'
import { clickHouseInTurn, sqlInTurn } from '../../storage/in-turn.js'
import { FairGate } from '../../turns/fair-gate.js'

/** Connections to Postgres for requests that one environment leaves to others. */
const leftToOthers = 2
/** Statements of requests that ClickHouse is given at once, and those of one environment. */
const clickhousePlaces = { places: 4, perGroup: 3 }

/** The stores of a handler. */
export interface Stores {
  readonly sql: Sql
  readonly clickhouse: ClickHouse
}

export class StoreTurns {
  private readonly postgresGate: FairGate
  private readonly clickhouseGate = new FairGate({ ...clickhousePlaces, name: 'ClickHouse' })

  /** places  connections of `sql`: statements and transactions at once. */
  constructor(
    private readonly stores: Stores,
    places: number,
  ) {
    const perGroup = Math.max(Math.ceil(places / 2), places - leftToOthers)
    this.postgresGate = new FairGate({ places, perGroup, name: 'Postgres' })
  }

  /** The same services, with stores that run statements in the turn of a group: an environment, or an account. */
  services<Had extends Stores & { readonly catalogs: DefinitionChanges }>(services: Had, group: string): Had {
    const { sql, clickhouse } = this.stores
    const { catalogs } = services
    return {
      ...services,
      sql: sqlInTurn(sql, this.postgresGate, group),
      clickhouse: clickHouseInTurn(clickhouse, this.clickhouseGate, group),
      catalogs: {
        get: environmentId => catalogs.get(environmentId),
        change: (scope, work) => catalogs.change({ ...scope, group }, work),
      } satisfies DefinitionChanges,
    }
  }
}
