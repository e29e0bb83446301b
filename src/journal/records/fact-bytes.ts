// A fact as the journal keeps it: a mark, and the fact in its packed form. Earlier versions wrote JSON, which begins
// with a brace.
import { PackedWriter } from '../../bytes/packed.js'
import type { Fact } from '../../core/model/message.js'
import { readQuantity } from '../../core/values/quantity.js'
import type { Draw } from './ledger-rows.js'
import { shapes } from './shapes.js'

/** The first byte of a fact in its packed form. */
export const factMark = 1

const writer = new PackedWriter(shapes)

/**
 * The bytes of a fact.
 *
 * withRows  the encoded rows of its draws are beside it: it omits the slices in them, and so every draw without an
 *           uncovered rest.
 */
export function factBytes(fact: Fact, withRows = false): Buffer {
  writer.byte(factMark)
  writer.value(withRows ? withoutSlices(fact) : fact)
  return Buffer.from(writer.take())
}

/** Values in their packed form, one after the other, one character for each byte: to be copied as a template. */
export function packedText(...values: readonly unknown[]): string {
  for (const value of values) writer.value(value)
  return writer.take().toString('latin1')
}

/** Whether the rows beside a fact contain all of a draw. */
export function isInRows({ s, un }: Draw): boolean {
  return s.length > 0 && un === undefined
}

function withoutSlices(fact: Fact): Fact {
  const fx = fact.fx
    .filter(effect => effect.t !== 'credit_draw' || !isInRows(effect))
    .map(effect => (effect.t === 'credit_draw' ? { ...effect, s: [] } : effect))
  return { ...fact, fx }
}

/** A fact of an earlier version: JSON with quantities beyond ±(2^53 − 1) as decimal text. errors: SyntaxError. */
export function factFromJson(text: string): Fact {
  const fact = JSON.parse(text) as Fact
  const effects: unknown = fact?.fx
  if (Array.isArray(effects)) for (const effect of effects as readonly StoredEffect[]) makeExact(effect)
  return fact
}

/** An effect as JSON has it, as far as it may hold a quantity that is text. */
type StoredEffect = {
  readonly t?: unknown
  quantity?: unknown
  readonly values?: readonly { value: unknown }[]
} | null

function makeExact(effect: StoredEffect): void {
  if (effect?.t === 'used' && typeof effect.quantity === 'string')
    effect.quantity = readQuantity(effect.quantity)
  else if (effect?.t === 'cycle_counted')
    for (const one of effect.values ?? [])
      if (typeof one.value === 'string') one.value = readQuantity(one.value)
}
