// Words for what a draft of a plan changes, and for the companies that it moves.
import type { Schemas } from '../app/api.js'
import { decimal, money, words } from '../app/format.js'

export type Diff = Schemas['DraftDiff']
export type Terms = Schemas['PlanTerms']
export type Cadence = Terms['prices'][number]['cadence']

const cadences = [
  ['monthly', 'a month'],
  ['quarterly', 'a quarter'],
  ['yearly', 'a year'],
  ['one_time', 'once'],
] as const

/** "$49 a month". */
export const priceWords = ({ price, currency, cadence }: Terms['prices'][number]): string =>
  `${money(price, currency, 'stripIfInteger')} ${cadences.find(([one]) => one === cadence)![1]}`

/** "$49 a month or $490 a year". */
export function termsWords({ charge_type: type, prices }: Pick<Terms, 'charge_type' | 'prices'>): string {
  if (type === 'free') return 'Free'
  const ordered = cadences.flatMap(([cadence]) => prices.filter(one => one.cadence === cadence))
  return ordered.map(priceWords).join(' or ') || 'No price'
}

/** `price usd monthly`, as a change names it. */
const priceMember = /^price ([a-z]{3}) (\w+)$/

/** "price USD, monthly" or "soft limit". */
export const memberWords = (member: string): string =>
  member
    .replace(
      priceMember,
      (_, currency: string, cadence: string) => `price ${currency.toUpperCase()}, ${words(cadence)}`,
    )
    .replaceAll('_', ' ')

/** A value of a version in words; prices in their currency, numbers with their separators. */
export function plainly(value: string | null, member: string | null): string {
  if (value === null) return '–'
  const [, currency] = priceMember.exec(member ?? '') ?? []
  const isNumber = /^-?\d+(\.\d+)?$/.test(value)
  if (currency !== undefined) return isNumber ? money(value, currency) : tiersWords(value, currency)
  return isNumber ? decimal(value) : words(value)
}

interface Tier {
  readonly up_to: number | null
  readonly flat_amount: number | null
  readonly per_unit_price: number | null
  readonly per_unit_price_decimal: string | null
}

/** "up to 1,000: $5.00 + $0.05 each; then $0.025 each". */
function tiersWords(text: string, currency: string): string {
  let tiers: readonly Tier[]
  try {
    tiers = JSON.parse(text) as readonly Tier[]
  } catch {
    return text
  }
  return tiers
    .map(tier => {
      const each = tier.per_unit_price_decimal ?? tier.per_unit_price ?? 0
      const flat = tier.flat_amount ? `${money(tier.flat_amount, currency)} + ` : ''
      const until =
        tier.up_to === null || tier.up_to === undefined ? 'then' : `up to ${decimal(String(tier.up_to))}:`
      return `${until} ${flat}${money(each, currency)} each`
    })
    .join('; ')
}

/** A link between words. It is underlined, because a colour alone does not distinguish it. */
export const inText = 'text-accent underline'

/** Rows with the same words together, in order. */
export function alike<T>(
  rows: readonly T[],
  wordsOf: (row: T) => string,
): (readonly [words: string, rows: T[]])[] {
  const groups = new Map<string, T[]>()
  for (const row of rows) groups.set(wordsOf(row), [...(groups.get(wordsOf(row)) ?? []), row])
  return [...groups]
}
