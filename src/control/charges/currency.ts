// Digits of currencies, from the list of ISO 4217.
import { code } from 'currency-codes'

/** Currencies that the list does not have yet. source: RA-19 */
const further: ReadonlyMap<string, number> = new Map([
  ['std', 2],
  ['xcg', 2],
])

/** Digits after the point of a currency's main unit: 0 for yen, 2 for dollars. Unknown ones have 2. source: RA-19 */
export function digitsOf(currency: string): number {
  return further.get(currency.toLowerCase()) ?? code(currency.toUpperCase())?.digits ?? 2
}
