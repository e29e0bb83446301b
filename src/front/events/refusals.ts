// Answers for events whose company or user refuses the write.
import type { FailedEvent } from '../../core/model/message.js'
import { type Answered, Refused } from '../../entities/shards/shards.js'

/**
 * Why an entity refuses a write; null when the write was taken. It would become too large (security 7), or it was named by
 * its service id alone and has been deleted since (EV-32).
 *
 * noun  what the event calls it.
 */
export async function refusalOf(
  noun: 'company' | 'user',
  asked: Promise<Answered<unknown>>,
  repeats: (events: readonly FailedEvent[]) => void = () => {},
): Promise<string | null> {
  try {
    const { reply } = await asked
    if (Array.isArray(reply)) repeats(reply as readonly FailedEvent[])
    return null
  } catch (error) {
    if (isGone(error)) return `${noun} not found`
    if (!(error instanceof Refused && error.refusal === 'entity_full')) throw error
    return error.detail ?? 'too large'
  }
}

/** An entity that was deleted meanwhile needs no membership, and is not made again without keys (CU-53). */
export function unlessGone(error: unknown): void {
  if (!isGone(error)) throw error
}

/** Whether an entity refuses because it does not exist, and the write has no key to make it with. */
function isGone(error: unknown): boolean {
  return error instanceof Refused && (error.refusal === 'not_found' || error.refusal === 'no_key_given')
}
