// Members of records and how a text becomes one: whole numbers, dates in any form, lists.
import { DateTime } from 'luxon'
import { parseTime } from '../../core/values/instant.js'
import { isoTime } from '../../kit/time.js'

/** The value of a member. A `map` has members of any name, as `keys.slug`. */
type MemberType = 'flag' | 'list' | 'number' | 'text' | 'time' | 'whole' | 'map' | 'traits' | 'json'

export interface Member {
  readonly type: MemberType
  readonly required?: boolean
  /** Whether null means something: it clears the value. */
  readonly clears?: boolean
}
export type Members = Readonly<Record<string, Member>>

/** The record as a write takes it. */
export type Row = Readonly<Record<string, unknown>>

/** Why a record is not taken, and the member that it is about. */
export class MemberFault extends Error {
  /** The other members of the record, as far as they were read. */
  row: Row = {}

  constructor(
    readonly member: string | null,
    message: string,
  ) {
    super(message)
  }
}

/** How texts become values. */
export interface Reading {
  /** `unix`, `unix_ms`, or a form such as `dd.MM.yyyy HH:mm`; null: ISO 8601. */
  readonly date: string | null
  /** The zone of dates without one of their own. */
  readonly zone: string
  /** Between the values of a list. */
  readonly split: string
  /** The type of a trait. */
  readonly type: 'boolean' | 'number' | 'text'
}

const yes: ReadonlySet<string> = new Set(['1', 'on', 'true', 'y', 'yes'])
const no: ReadonlySet<string> = new Set(['0', 'false', 'n', 'no', 'off'])
const isoDate = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d{1,9})?)?)?([Zz]|[+-]\d\d:?\d\d)?$/
const shownMax = 60

/** A value in a message, cut short. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > shownMax ? `${text.slice(0, shownMax)}…` : text
}

/**
 * The value of a member from a cell, or from a member of JSON.
 *
 * errors  MemberFault that says what was given and what would be right.
 */
export function memberValue(name: string, type: MemberType, given: unknown, reading: Reading): unknown {
  const fault = (wanted: string) => new MemberFault(name, `${name}: ${shown(given)} is ${wanted}`)
  switch (type) {
    case 'text':
    case 'map':
      if (typeof given === 'string') return given
      if (typeof given === 'number' || typeof given === 'bigint') return String(given)
      throw fault('no text')
    case 'json':
      return given
    case 'traits':
      return traitOf(given, reading.type, fault)
    case 'whole':
      return wholeOf(given, fault)
    case 'number':
      return numberOf(given, fault)
    case 'flag':
      return flagOf(given, fault)
    case 'time':
      return timeOf(given, reading, fault)
    case 'list':
      return listOf(given, reading.split, fault)
  }
}

type ToFault = (wanted: string) => MemberFault

function traitOf(given: unknown, type: Reading['type'], fault: ToFault): unknown {
  if (type === 'number') return numberOf(given, fault)
  return type === 'boolean' ? flagOf(given, fault) : given
}

function wholeOf(given: unknown, fault: ToFault): number | bigint {
  const text = String(given).replaceAll(/(?<=\d)_(?=\d)/g, '')
  if (!/^[+-]?\d+(\.0+)?$/.test(text)) throw fault('no whole number: expected digits alone, as 1200')
  const exact = BigInt(text.replace(/^\+/, '').replace(/\.0+$/, ''))
  return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact
}

function numberOf(given: unknown, fault: ToFault): number {
  const number = typeof given === 'number' ? given : Number(String(given))
  if (typeof given === 'boolean' || String(given).trim() === '' || !Number.isFinite(number))
    throw fault('no number: expected a point for decimals, as 1200.5')
  return number
}

function flagOf(given: unknown, fault: ToFault): boolean {
  if (typeof given === 'boolean') return given
  const text = String(given).toLowerCase()
  if (yes.has(text)) return true
  if (no.has(text)) return false
  throw fault('neither true nor false')
}

function listOf(given: unknown, split: string, fault: ToFault): readonly unknown[] {
  if (Array.isArray(given)) return given
  if (typeof given !== 'string') throw fault('no list')
  return given
    .split(split)
    .map(one => one.trim())
    .filter(one => one !== '')
}

/** An instant as the interface writes it. */
function timeOf(given: unknown, { date, zone }: Reading, fault: ToFault): string {
  const text = String(given)
  if (date === 'unix' || date === 'unix_ms') {
    const ms = Number(text) * (date === 'unix' ? 1_000 : 1)
    const at = Math.round(ms)
    if (text.trim() !== '' && Number.isFinite(ms) && parseTime(isoOrNothing(at)) !== null) return isoTime(at)
    throw fault(`no time: expected ${date === 'unix' ? 'seconds' : 'milliseconds'} since 1970`)
  }
  const time =
    date === null
      ? DateTime.fromISO(isoDate.test(text) ? text.replace(' ', 'T').replace(',', '.') : 'none', { zone })
      : DateTime.fromFormat(text, date, { zone, locale: 'en' })
  const at = time.isValid ? time.toMillis() : Number.NaN
  if (parseTime(isoOrNothing(at)) !== null) return isoTime(at)
  if (date !== null) throw fault(`no date of the form ${date}`)
  throw fault(
    `no date: expected 2024-12-31 or 2024-12-31T08:00:00Z; a mapping names another form, as {column: …, date: dd.MM.yyyy}`,
  )
}

function isoOrNothing(ms: number): string {
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : ''
}
