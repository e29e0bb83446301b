// A fact as the JSON that the journal keeps. Most facts are the use of one event and its draws: those are built from
// their parts, in a quarter of the time of JSON.stringify; the text is the same.

import type { Effect, Fact } from '../../core/company/message.js'
import type { Slice } from '../../core/credits/account-state.js'
import type { Nanos } from '../../core/credits/amount.js'
import { type Quantity, readQuantity } from '../../core/usage/quantity.js'
import type { Draw } from './ledger-rows.js'

/**
 * Equal to JSON.stringify(fact), with bigints as decimal text (`StoredQuantity`).
 *
 * withRows  the encoded rows of its draws are beside it: it omits the slices in them, and so every draw without an
 *           uncovered rest.
 */
export function factText(fact: Fact, withRows = false): string {
  if (fact.tell !== undefined) return storedText(withRows ? withoutSlices(fact) : fact)
  let effects = ''
  for (const effect of fact.fx) {
    if (withRows && effect.t === 'credit_draw' && isInRows(effect)) continue
    const text = effectText(effect, withRows)
    if (text === null) return storedText(withRows ? withoutSlices(fact) : fact)
    effects += effects === '' ? text : `,${text}`
  }
  const { k, id, env, at, ik } = fact
  const claim = ik === undefined ? '' : `,"ik":[${quoted(ik[0])},"${ik[1]}",${ik[2]}]`
  return `{"k":"${k}","id":"${id}","env":"${env}","at":${at},"fx":[${effects}]${claim}}`
}

function effectText(effect: Effect, withRows: boolean): string | null {
  if (effect.t === 'seen') return `{"t":"seen","atMs":${effect.atMs}}`
  if (effect.t === 'credit_draw') return drawText(effect, withRows)
  if (effect.t !== 'used') return null
  return `{"t":"used","subtype":${quoted(effect.subtype)},"quantity":${quantityText(effect.quantity)},"atMs":${effect.atMs}}`
}

function quantityText(quantity: Quantity): string {
  return typeof quantity === 'number' ? `${quantity}` : `"${quantity}"`
}

/** A fact with a bigint in it is one that JSON.stringify refuses. */
function storedText(fact: Fact): string {
  try {
    return JSON.stringify(fact)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return JSON.stringify(fact, (_, member: unknown) =>
      typeof member === 'bigint' ? String(member) : member,
    )
  }
}

/**
 * A fact from the text of `factText`: the result of JSON.parse, with quantities as numbers and bigints again. errors:
 * SyntaxError.
 */
export function parseFact(text: string): Fact {
  const fact = JSON.parse(text) as Fact
  const effects: unknown = fact?.fx
  if (Array.isArray(effects)) for (const effect of effects as readonly StoredEffect[]) makeExact(effect)
  return fact
}

/** An effect as it is stored, as far as it may hold a quantity that is text. */
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

function drawText({ c, seq, at, now, s, un, ext, f, e, u }: Draw, withRows: boolean): string {
  return (
    `{"t":"credit_draw","c":"${c}","seq":${seq},"at":${at}` +
    (now === undefined ? '' : `,"now":${now}`) +
    (f === undefined ? '' : `,"f":"${f}"`) +
    (e === undefined ? '' : `,"e":"${e}"`) +
    (u === undefined ? '' : `,"u":"${u}"`) +
    `,"s":[${withRows ? '' : slicesText(s)}]` +
    (un === undefined ? '' : `,"un":${nanosText(un)}`) +
    (ext === undefined ? '}' : `,"ext":${nanosText(ext)}}`)
  )
}

function slicesText(slices: readonly Slice[]): string {
  let text = ''
  for (const [seq, moved, left] of slices)
    text += `${text === '' ? '' : ','}[${seq},${nanosText(moved)},${nanosText(left)}]`
  return text
}

const nanosText = (nanos: Nanos): string => (typeof nanos === 'number' ? `${nanos}` : `"${nanos}"`)

const plain = /^[\w .:/-]*$/

// Ids and times need no escaping; names of events seldom do.
function quoted(text: string): string {
  return plain.test(text) ? `"${text}"` : JSON.stringify(text)
}
