// A fact as the journal takes it, with the rows that ClickHouse gets of it.
import type { Catalog } from '../../../src/core/catalog.js'
import type { Fact } from '../../../src/core/model/message.js'
import type { AcceptedEvent } from '../../../src/core/model/requests.js'
import { type NewRecord, RecordFlag } from '../../../src/journal/journal.js'
import { eventRow, monthOf } from '../../../src/journal/records/event-row.js'
import { factBytes } from '../../../src/journal/records/fact-bytes.js'
import { drawRows } from '../../../src/journal/records/ledger-rows.js'
import { rowExtra } from '../events/row-extra.js'

/**
 * flags    flags of the fact's effects (kinds.ts).
 * event    the event that it keeps, or null.
 * catalog  its environment's, where the shard has it.
 */
export function recordOf(
  fact: Fact,
  flags: number,
  event: AcceptedEvent | null,
  catalog: Catalog | undefined,
): NewRecord {
  const { env, id, at, fx } = fact
  const claim = event !== null && event.idempotencyKey !== null && event.failure === null ? event : null
  // an event's draws are of its time (CR-48), so of its month
  const ledger = event && flags & RecordFlag.draws ? drawRows(env, id, at, fx) : ''
  return {
    flags: flags | (event ? RecordFlag.event : 0) | (fact.tell === undefined ? 0 : RecordFlag.tells),
    month: event ? monthOf(event.capturedAtMs) : 0,
    row: event ? eventRow(event, rowExtra(catalog, env, event, at)) : '',
    ledger,
    fact: factBytes(
      claim === null ? fact : { ...fact, ik: [claim.idempotencyKey!, claim.id, claim.capturedAtMs] },
      ledger !== '',
    ),
  }
}
