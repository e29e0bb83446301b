// Times in requests and answers. The format itself is in the core.
import { parseTime } from '../core/values/instant.js'
import { dayMs } from '../core/values/period.js'
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

/** End of the times that columns of stored figures hold. */
const latestMs = Date.UTC(2100, 0, 1)

/**
 * The window of a question about stored figures, [fromMs, toMs).
 *
 * asked    what the caller names.
 * usual    its end where none is named, epoch ms, and its length where no start is.
 * daysMax  its longest length; absent: any.
 * errors   query_invalid (400) for a window that is empty, too long, or not within 1970 to 2100, which the stores cannot hold.
 */
export function requireWindow(
  asked: { readonly start_time?: number | undefined; readonly end_time?: number | undefined },
  usual: { readonly toMs: number; readonly lengthMs: number },
  daysMax = Number.POSITIVE_INFINITY,
): { readonly fromMs: number; readonly toMs: number } {
  const toMs = asked.end_time ?? usual.toMs
  const fromMs = asked.start_time ?? Math.max(0, toMs - usual.lengthMs)
  const invalid = (text: string) => new ServiceError('query_invalid', text)
  if (fromMs >= toMs || toMs - fromMs > daysMax * dayMs)
    throw invalid(
      `start_time: must lie before end_time${Number.isFinite(daysMax) ? `, at most ${daysMax} days` : ''}`,
    )
  if (fromMs < 0 || toMs > latestMs) throw invalid('start_time and end_time: from 1970 to 2100')
  return { fromMs, toMs }
}

/** Epoch ms of the whole second that an instant is in. */
export const wholeSeconds = (ms: number): number => Math.floor(ms / 1000) * 1000
