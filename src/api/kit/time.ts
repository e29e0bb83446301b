// Times on the wire, as rooms read and write them; the encoding itself is the core's.
import { parseTime } from '../../core/instant.js'
import { ServiceError } from '../../errors.js'

export { isoTime, isoTimeOrNull, parseTime } from '../../core/instant.js'

/** The same for a member of a body; throws `value_invalid` naming it. */
export function requireTime(text: string, member: string): number {
  const ms = parseTime(text)
  if (ms === null)
    throw new ServiceError(
      'value_invalid',
      `${member}: expected a date and time, as 2024-01-02T03:04:05.000Z`,
    )
  return ms
}
