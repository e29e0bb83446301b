// Numbers, times and words as people read them.

/** A number, or a whole number beyond 2^53 with all its digits. */
export type Figure = number | bigint

const plain = new Intl.NumberFormat('en')
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

export const figure = (value: Figure | null | undefined): string =>
  value == null ? '–' : plain.format(value)
export const shortFigure = (value: Figure | null | undefined): string =>
  value == null ? '–' : value < 10_000 && value > -10_000 ? plain.format(value) : short.format(value)

/** The number that a field has. A whole number beyond 2^53 keeps all its digits: it is a bigint then, as answers have it. */
export function numberOf(text: string): number {
  const rounded = Number(text)
  if (Number.isSafeInteger(rounded) || !/^\s*-?\d+\s*$/.test(text)) return rounded
  return BigInt(text) as unknown as number
}

const precise = new Intl.NumberFormat('en', { maximumFractionDigits: 20 })

/** A decimal with all its digits, as "1,234.5". */
export const decimal = (text: string): string => precise.format(text as `${number}`)

/** Digits of a currency after the point. */
const digitsOf = (currency: string): number =>
  new Intl.NumberFormat('en', { style: 'currency', currency: currency.toUpperCase() }).resolvedOptions()
    .maximumFractionDigits ?? 2

/** An amount in the smallest unit of a currency, a whole number or a decimal, in its main unit: "$1,234.50", "$0.025". */
export function money(
  amount: Figure | string,
  currency: string,
  zeros: 'auto' | 'stripIfInteger' = 'auto',
): string {
  const style = { style: 'currency', currency: currency.toUpperCase() } as const
  const digits = digitsOf(currency)
  const [whole = '0', rest = ''] = String(amount).replace('-', '').split('.')
  const all = whole.padStart(digits + 1, '0')
  const sign = String(amount).startsWith('-') ? '-' : ''
  const main = `${sign}${all.slice(0, all.length - digits)}.${all.slice(all.length - digits)}${rest}0`
  const format = new Intl.NumberFormat('en', {
    ...style,
    maximumFractionDigits: 20,
    trailingZeroDisplay: zeros,
  } as Intl.NumberFormatOptions)
  return format.format(main as `${number}`)
}

/** An amount in the main unit, "49.50", in the smallest unit of its currency; null: it has more digits than the currency. */
export function smallestUnit(text: string, currency: string): number | null {
  const amount = smallestDecimal(text, currency)
  return amount === null || amount.includes('.') ? null : Number(amount)
}

/** An amount in the main unit, "0.025", in the smallest unit of its currency with all its digits, "2.5"; null: the text is no amount. */
export function smallestDecimal(text: string, currency: string): string | null {
  const digits = digitsOf(currency)
  const [, whole, rest = ''] = /^(\d+)(?:\.(\d*))?$/.exec(text.trim()) ?? []
  if (whole === undefined) return null
  const main = `${whole}${rest.slice(0, digits).padEnd(digits, '0')}`.replace(/^0+(?=\d)/, '')
  const part = rest.slice(digits).replace(/0+$/, '')
  return part === '' ? main : `${main}.${part}`
}

/** The opposite of `smallestUnit`, for a field: "49.50". */
export function mainUnit(amount: number, currency: string): string {
  const digits = digitsOf(currency)
  const all = String(amount).padStart(digits + 1, '0')
  return digits === 0 ? all : `${all.slice(0, -digits)}.${all.slice(-digits)}`
}

const day = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' })
const dayAndYear = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric' })
const instant = new Intl.DateTimeFormat('en', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})

export const dayOf = (time: string | null | undefined): string => {
  if (!time) return 'never'
  const at = new Date(time)
  return at.getFullYear() === new Date().getFullYear() ? day.format(at) : dayAndYear.format(at)
}
const utcDay = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', timeZone: 'UTC' })
/** The day of an instant in UTC. Use is counted by days of UTC. */
export const utcDayOf = (time: string | number): string => utcDay.format(new Date(time))
export const timeOf = (time: string | null | undefined): string =>
  time ? instant.format(new Date(time)) : 'never'

const second = new Intl.DateTimeFormat('en', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})
export const secondOf = (time: string | null | undefined): string =>
  time ? second.format(new Date(time)) : 'never'

/** "2 min ago"; a time ahead is written as its day. */
export function ago(time: string | null | undefined): string {
  if (!time) return 'never'
  const seconds = (Date.now() - Date.parse(time)) / 1_000
  if (seconds < 0) return dayOf(time)
  if (seconds < 60) return 'just now'
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`
  if (seconds < 30 * 86_400) return `${Math.floor(seconds / 86_400)} d ago`
  return dayOf(time)
}

/** "1 to 30 Nov" of a window whose end is exclusive; a window within a day has its times. */
export function spanOf(start: string, end: string): string {
  const [from, to] = [new Date(start), new Date(Date.parse(end) - 1)]
  return to.getTime() - from.getTime() < 86_399_000
    ? `${timeOf(start)} to ${timeOf(end)}`
    : dayAndYear.formatRange(from, to)
}

/** `current_month` reads "this month". */
export const periodOf = (period: string | null | undefined): string =>
  ({ current_day: 'a day', current_week: 'a week', current_month: 'a month', all_time: 'in all' })[
    period ?? ''
  ] ?? ''

/** `plan_entitlement` reads "plan entitlement". */
export const words = (text: string | null | undefined): string => (text ?? '').replaceAll('_', ' ')

export const count = (n: number, one: string, many = `${one}s`): string =>
  `${figure(n)} ${n === 1 ? one : many}`

/** An instant as a field of the browser has it, in the browser's time: `2026-11-27T14:05:00.000`; empty for none. */
export function localOf(at: string): string {
  const ms = Date.parse(at)
  if (Number.isNaN(ms)) return ''
  return new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 23)
}

/** JSON with a line for each member; other text as it is. */
export function pretty(text: string | null): string {
  try {
    return JSON.stringify(JSON.parse(text ?? ''), null, 2)
  } catch {
    return text ?? ''
  }
}

/** "1.2 %" of a whole. */
export const percent = (part: number, whole: number): string =>
  whole === 0 ? '–' : `${plainTenth.format((100 * part) / whole)} %`
const plainTenth = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

/** "up 40 %" from a former figure. */
export function trend(now: number, before: number): string {
  if (before === 0) return now === 0 ? '–' : 'new'
  const change = Math.round((100 * (now - before)) / before)
  return change === 0 ? 'as before' : `${change > 0 ? 'up' : 'down'} ${figure(Math.abs(change))} %`
}

/** Operators of conditions in words and signs. */
export const signs: Readonly<Record<string, string>> = {
  eq: 'is',
  ne: 'is not',
  lt: '<',
  lte: '≤',
  gt: '>',
  gte: '≥',
  is_empty: 'is empty',
  not_empty: 'is not empty',
}
