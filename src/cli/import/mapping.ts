// The mapping file of an import: which member of a record comes from which column, and how it is read.
import { readFile } from 'node:fs/promises'
import { IANAZone } from 'luxon'
import { parse } from 'yaml'
import { nearest } from '../../faults.js'
import { parseExactly } from '../../json.js'
import { Failure } from '../io.js'
import { type Member, MemberFault, type Members, memberValue, type Reading, type Row } from './members.js'
import { type RawRecord, recordLengthMax, tooLong } from './read.js'

/** Where one member comes from. */
interface Place {
  readonly column: string | null
  /** The value of every record, in place of a column. */
  readonly value: unknown
  /** The value of a record with an empty cell. */
  readonly default: unknown
  /** Meanings of cells: cell → value. */
  readonly values: ReadonlyMap<string, unknown> | null
  /** An empty cell leaves the member as it is, or clears it. */
  readonly clears: boolean
  readonly reading: Reading
}

/** A mapping file, read. */
export interface Mapping {
  readonly kind: string | null
  readonly delimiter: string | null
  readonly encoding: string
  /** Member → place, in the order of the file; null: columns have the names of members. */
  readonly places: ReadonlyMap<string, Place> | null
  readonly zone: string
}

const topMembers = ['kind', 'columns', 'delimiter', 'encoding', 'time_zone']
const placeMembers = ['column', 'value', 'default', 'values', 'empty', 'date', 'time_zone', 'split', 'type']

/** The mapping of an import without a file. */
export const noMapping: Mapping = {
  kind: null,
  delimiter: null,
  encoding: 'utf-8',
  places: null,
  zone: 'utc',
}

/** Read a mapping file, YAML or JSON. errors: Failure that names what is wrong and what is near. */
export async function readMapping(file: string): Promise<Mapping> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new Failure(`--mapping: ${error.message}`)
  })
  let read: unknown
  try {
    read = parse(text, { maxAliasCount: 0 })
  } catch (error) {
    throw new Failure(`${file}: ${(error as Error).message.split('\n')[0]}`)
  }
  const fail = (message: string): never => {
    throw new Failure(`${file}: ${message}`)
  }
  if (!isObject(read)) return fail('expected kind and columns')
  requireKnown(read, topMembers, '', fail)
  const { kind = null, columns = null, delimiter = null, encoding = 'utf-8', time_zone = 'utc' } = read
  if (kind !== null && typeof kind !== 'string') fail('kind: expected a text')
  if (delimiter !== null && (typeof delimiter !== 'string' || delimiter === ''))
    fail('delimiter: expected a text, as ";" or "\\t"')
  const zone = zoneOf(time_zone, 'time_zone', fail)
  if (columns !== null && !isObject(columns)) fail('columns: expected members with their columns')
  return {
    kind: kind as string | null,
    delimiter: delimiter as string | null,
    encoding: encodingOf(encoding, fail),
    zone,
    places:
      columns === null
        ? null
        : new Map(
            Object.entries(columns as object).map(([name, one]) => [name, placeOf(name, one, zone, fail)]),
          ),
  }
}

type Fail = (message: string) => never

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function requireKnown(given: object, known: readonly string[], at: string, fail: Fail): void {
  for (const name of Object.keys(given))
    if (!known.includes(name))
      fail(`${at}${name}: not known${meant(name, known)}; there are ${known.join(', ')}`)
}

/** `, did you mean "name"?` where one is near. */
export function meant(given: string, names: Iterable<string>): string {
  const near = nearest(given, names)
  return near === null ? '' : `, did you mean "${near}"?`
}

function zoneOf(given: unknown, member: string, fail: Fail): string {
  if (typeof given === 'string' && IANAZone.isValidZone(given)) return given
  return fail(`${member}: ${JSON.stringify(given)} is no time zone, as Europe/Berlin is`)
}

function encodingOf(given: unknown, fail: Fail): string {
  try {
    return new TextDecoder(String(given)).encoding
  } catch {
    return fail(`encoding: ${JSON.stringify(given)} is not known, as utf-8, utf-16le or windows-1252 are`)
  }
}

const plainReading = (zone: string): Reading => ({ date: null, zone, split: ',', type: 'text' })

function placeOf(name: string, given: unknown, zone: string, fail: Fail): Place {
  const plain = { column: null, value: undefined, default: undefined, values: null, clears: false }
  const reading = plainReading(zone)
  if (typeof given === 'string' || typeof given === 'number')
    return { ...plain, column: String(given), reading }
  if (!isObject(given)) return fail(`columns.${name}: expected the name of a column`)
  requireKnown(given, placeMembers, `columns.${name}.`, fail)
  const { column, value, values, empty = 'keep', date = null, split = ',', type = 'text' } = given
  if ((column === undefined) === (value === undefined))
    fail(`columns.${name}: expected either column or value`)
  if (empty !== 'keep' && empty !== 'clear') fail(`columns.${name}.empty: expected keep or clear`)
  if (date !== null && typeof date !== 'string') fail(`columns.${name}.date: expected a form, as dd.MM.yyyy`)
  if (typeof split !== 'string' || split === '') fail(`columns.${name}.split: expected a text, as "|"`)
  if (type !== 'text' && type !== 'number' && type !== 'boolean')
    fail(`columns.${name}.type: expected text, number or boolean`)
  if (values !== undefined && !isObject(values))
    fail(`columns.${name}.values: expected cells with their values`)
  return {
    column: column === undefined ? null : String(column),
    value,
    default: given.default,
    values: values === undefined ? null : new Map(Object.entries(values as object)),
    clears: empty === 'clear',
    reading: {
      date: date as string | null,
      zone: given.time_zone === undefined ? zone : zoneOf(given.time_zone, `columns.${name}.time_zone`, fail),
      split: split as string,
      type: type as Reading['type'],
    },
  }
}

export interface Compiled {
  /** A record of a file as a row of its kind. errors: MemberFault. */
  readonly toRow: (record: RawRecord) => Row
  /** Columns of the file that no member comes from. */
  readonly unused: readonly string[]
}

/**
 * Make the function that reads records.
 *
 * header  the columns of a CSV file; null for JSON.
 * errors  Failure for a member that the kind does not have, and a column that the file does not have.
 */
export function compile(
  mapping: Mapping,
  kind: string,
  members: Members,
  header: readonly string[] | null,
): Compiled {
  const places = mapping.places ?? (header && placesOf(header, mapping.zone))
  if (places === null) return { toRow: record => wholeRow(jsonOf(record), members, mapping.zone), unused: [] }
  const parts = [...places].map(([name, place]) => ({
    name,
    place,
    member: memberOf(name, kind, members, mapping.places === null),
    get: place.column === null ? null : getter(place.column, name, header),
  }))
  const used = new Set(parts.map(({ place }) => place.column))
  return {
    unused: header?.filter(column => column !== '' && !used.has(column)) ?? [],
    toRow: record => {
      const source = record.cells ?? jsonOf(record)
      const faults: MemberFault[] = []
      if (record.cells && record.cells.length !== header!.length)
        faults.push(
          new MemberFault(
            null,
            `${record.cells.length} cells where the header has ${header!.length}: is a separator inside a cell without quotes?`,
          ),
        )
      const row: Record<string, unknown> = {}
      for (const { name, place, member, get } of parts)
        noting(faults, () => {
          const value = placed(name, place, member, get === null ? place.value : get(source))
          if (value !== undefined) put(row, name, member.type, value)
        })
      return whole(row, members, faults)
    },
  }
}

function placesOf(header: readonly string[], zone: string): ReadonlyMap<string, Place> {
  const never: Fail = message => {
    throw new Failure(message)
  }
  return new Map(header.filter(column => column !== '').map(name => [name, placeOf(name, name, zone, never)]))
}

function memberOf(name: string, kind: string, members: Members, isColumn: boolean): Member {
  const [first, ...rest] = name.split('.')
  const member = memberNamed(members, first!)
  const isMap = member?.type === 'map' || member?.type === 'traits'
  if (member && (isMap ? rest.join('.') !== '' : rest.length === 0)) return member
  if (member && isMap) throw new Failure(`${name}: name one of its members, as ${name}.number`)
  const known = Object.entries(members).map(([one, { type }]) =>
    type === 'map' || type === 'traits' ? `${one}.…` : one,
  )
  throw new Failure(
    isColumn
      ? `the column ${JSON.stringify(name)} is no member of ${kind}${meant(name, Object.keys(members))}; there are ${known.join(', ')}. A mapping (--mapping) says what other columns mean`
      : `columns.${name}: ${kind} have no such member${meant(name, Object.keys(members))}; there are ${known.join(', ')}`,
  )
}

/** A member of the kind. Every object has a `constructor`, and no kind. */
const memberNamed = (members: Members, name: string): Member | undefined =>
  Object.hasOwn(members, name) ? members[name] : undefined

type Get = (source: unknown) => unknown

function getter(column: string, member: string, header: readonly string[] | null): Get {
  if (header === null) {
    const path = column.split('.')
    return source => {
      const whole = source as Readonly<Record<string, unknown>>
      if (Object.hasOwn(whole, column)) return whole[column]
      return path.reduce<unknown>(
        (at, name) => (isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined),
        whole,
      )
    }
  }
  const at = header.indexOf(column)
  if (at < 0)
    throw new Failure(
      `columns.${member}: the file has no column ${JSON.stringify(column)}${meant(column, header)}; it has ${header.join(', ')}`,
    )
  if (header.indexOf(column, at + 1) >= 0)
    throw new Failure(`columns.${member}: the file has the column ${JSON.stringify(column)} twice`)
  return source => (source as readonly string[])[at]
}

/** The value of a member; undefined: the record has none. */
function placed(name: string, place: Place, member: Member, given: unknown): unknown {
  const isEmpty = given === undefined || given === null || given === ''
  if (isEmpty && place.default === undefined) {
    const isCleared = (place.clears || given === null) && member.clears === true
    return isCleared ? null : undefined
  }
  const cell = isEmpty ? place.default : given
  const meaning = place.values?.has(String(cell)) ? place.values.get(String(cell)) : cell
  if (meaning === null) return member.clears === true ? null : undefined
  return memberValue(name, member.type, meaning, place.reading)
}

function put(row: Record<string, unknown>, name: string, type: Member['type'], value: unknown): void {
  if (type !== 'map' && type !== 'traits') {
    row[name] = value
    return
  }
  const [first, ...rest] = name.split('.')
  // a key may have any name, as __proto__
  row[first!] ??= Object.create(null)
  const map = row[first!] as Record<string, unknown>
  map[rest.join('.')] = value
}

function jsonOf({ text }: RawRecord): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = parseExactly(text)
  } catch {
    const isLong = text.length > recordLengthMax
    throw new MemberFault(null, isLong ? tooLong : 'the line is not valid JSON')
  }
  if (isObject(value)) return value
  throw new MemberFault(null, 'the line is no JSON object')
}

/** A line of JSON that has the members of the kind itself. */
function wholeRow(given: Readonly<Record<string, unknown>>, members: Members, zone: string): Row {
  const reading = plainReading(zone)
  const row: Record<string, unknown> = {}
  const faults: MemberFault[] = []
  for (const [name, value] of Object.entries(given))
    noting(faults, () => {
      const read = lineMember(name, value, members, reading)
      if (read !== undefined) row[name] = read
    })
  return whole(row, members, faults)
}

/** The value of a member of a line of JSON; undefined: it has none. */
function lineMember(name: string, value: unknown, members: Members, reading: Reading): unknown {
  const member = memberNamed(members, name)
  if (!member) throw new MemberFault(name, `${name}: not a member${meant(name, Object.keys(members))}`)
  if (value === null) return member.clears === true ? null : undefined
  if (member.type !== 'traits' && member.type !== 'map') return memberValue(name, member.type, value, reading)
  if (!isObject(value)) throw new MemberFault(name, `${name}: expected an object`)
  if (member.type === 'traits') return value
  const texts = Object.entries(value).map(([key, one]) => [
    key,
    memberValue(`${name}.${key}`, 'map', one, reading),
  ])
  return Object.fromEntries(texts)
}

/** Do a part of the reading of a record, and note its fault: the rest is read all the same, as it tells which record it is. */
function noting(faults: MemberFault[], read: () => void): void {
  try {
    read()
  } catch (error) {
    if (!(error instanceof MemberFault)) throw error
    faults.push(error)
  }
}

/** A row that has all it needs. errors: the first of the faults, with what was read. */
function whole(row: Row, members: Members, faults: MemberFault[]): Row {
  for (const [name, member] of Object.entries(members))
    if (member.required === true && row[name] === undefined)
      faults.push(new MemberFault(name, `${name}: missing`))
  const [first] = faults
  if (first === undefined) return row
  first.row = row
  throw first
}
