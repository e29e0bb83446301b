// Columns of an event's row that only the shard knows.
import type { Catalog } from '../../../src/core/catalog.js'
import type { AcceptedEvent } from '../../../src/core/model/requests.js'
import type { RowExtra } from '../../../src/journal/records/event-row.js'

const noFeatures: readonly string[] = []

/** Additions of deciding to an event's row (EV-70): its features by subtype and source, when it was applied. */
export function rowExtra(
  catalog: Catalog | undefined,
  environmentId: string,
  { type, subtype, failure, inference }: AcceptedEvent,
  at: number,
): RowExtra {
  const metered = failure === null && subtype !== null && (type === 'track' || type === 'inference')
  return {
    environmentId,
    featureIds: metered ? featureIdsOf(catalog, subtype, type) : noFeatures,
    at,
    cost: inference?.cost ?? null,
    flagId: type === 'flag_check' && subtype !== null ? (catalog?.flagsByKey.get(subtype)?.id ?? null) : null,
  }
}

/** Features that events of this name are linked to. */
export function featureIdsOf(
  catalog: Catalog | undefined,
  subtype: string,
  source: 'track' | 'inference',
): readonly string[] {
  const features = catalog?.featuresBySubtype.get(subtype)
  if (features === undefined) return noFeatures
  return features.filter(({ def }) => def.eventSource === source).map(({ def }) => def.id)
}
