// Adds event counts to the views of features.
import type { EventSummary } from '../../../schemas/events.js'
import { eventTypes } from '../../analytics/history.js'
import { isoTimeOrNull } from '../../kit/time.js'
import { within } from '../../storage/away.js'
import type { Outlook } from '../flags/view.js'

/** A feature in any of its views. */
interface SummarisedFeature {
  readonly event_subtype: string | null
  event_summary?: EventSummary
}

/** Longest wait for the counts, milliseconds. */
const summaryMsMax = 1_000

/**
 * Add to each feature the counts of its event in the environment. Without ClickHouse the counts are left out.
 *
 * returns  the same features in the same order.
 */
export async function withEvents<Feature extends SummarisedFeature>(
  { services, environment }: Outlook,
  features: readonly Feature[],
): Promise<Feature[]> {
  const subtypes = [...new Set(features.flatMap(feature => feature.event_subtype ?? []))]
  if (environment === null || subtypes.length === 0) return [...features]
  const page = { limit: subtypes.length, offset: 0 }
  const asked = eventTypes(services.clickhouse, environment.id, { subtypes, q: '' }, page)
  const rows = await within(summaryMsMax, asked, 'ClickHouse').catch(() => null)
  if (rows === null) return [...features]
  const bySubtype = new Map(rows.map(row => [row.subtype, row]))
  return features.map(feature => {
    const { event_subtype: subtype } = feature
    if (subtype === null) return feature
    const counted = bySubtype.get(subtype)
    const summary: EventSummary = {
      environment_id: environment.id,
      event_subtype: subtype,
      company_count: counted?.companies ?? 0,
      event_count: counted?.events ?? 0,
      user_count: counted?.users ?? 0,
      last_seen_at: isoTimeOrNull(counted?.lastSeenMs),
    }
    return { ...feature, event_summary: summary }
  })
}

/** withEvents for objects that contain features, with one query for all. */
export async function withEventsInside<Owner extends { readonly features: readonly SummarisedFeature[] }>(
  outlook: Outlook,
  owners: readonly Owner[],
): Promise<Owner[]> {
  const all = await withEvents(
    outlook,
    owners.flatMap(owner => owner.features),
  )
  let next = 0
  return owners.map(owner => ({ ...owner, features: owner.features.map(() => all[next++]!) }))
}
