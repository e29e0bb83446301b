// Retry-After of an answer, in both of its forms.

/**
 * The wait that an answer asks for, ms; 0: none.
 *
 * value  of Retry-After: a number of seconds, or a date on the clock of who answered.
 * date   the answer's own, of the same clock; null: `nowMs` stands for it.
 */
export function retryAfterMs(value: string | null, date: string | null, nowMs: number): number {
  const text = value?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1_000
  const at = Date.parse(date ?? '')
  const ms = Date.parse(text) - (Number.isNaN(at) ? nowMs : at)
  return Number.isNaN(ms) ? 0 : Math.max(ms, 0)
}
