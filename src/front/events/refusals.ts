// Answers for events whose company or user refuses the write.
import type { FailedEvent } from '../../core/model/message.js'
import { type Answered, Refused } from '../../entities/shards/shards.js'

/** Why an entity refuses to become larger (security 7); null when the write was taken. */
export async function refusedAsTooLarge(
  asked: Promise<Answered<unknown>>,
  repeats: (events: readonly FailedEvent[]) => void = () => {},
): Promise<string | null> {
  try {
    const { reply } = await asked
    if (Array.isArray(reply)) repeats(reply as readonly FailedEvent[])
    return null
  } catch (error) {
    if (!(error instanceof Refused && error.refusal === 'entity_full')) throw error
    return error.detail ?? 'too large'
  }
}

/** A user deleted in the meantime needs no membership (CU-53). */
export function unlessGone(error: unknown): void {
  if (!(error instanceof Refused && error.refusal === 'not_found')) throw error
}
