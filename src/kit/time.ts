// Times in requests and answers. The format itself is in the core.
import { parseTime } from '../core/values/instant.js'
import { ServiceError } from '../errors.js'

export { isoTime, isoTimeOrNull, parseTime, parseTimeOrDate } from '../core/values/instant.js'

/** requireTime for a member of a body; throws `value_invalid` naming it. */
export function requireTime(text: string, member: string): number {
  const ms = parseTime(text)
  if (ms === null)
    throw new ServiceError(
      'value_invalid',
      `${member}: expected a date and time with its zone, as 2024-01-02T03:04:05.000Z`,
    )
  return ms
}
