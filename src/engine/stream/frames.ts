// Messages of the data stream as they are sent, and what of two snapshots differs.
import type { EngineParts } from '../../core/evaluator/engine-shapes.js'

export type EntityKind = 'company' | 'user'

/** How the wire names the kinds of entities, and people do. */
export const entityTypes = {
  company: { wire: 'rulesengine.Company', name: 'Company' },
  user: { wire: 'rulesengine.User', name: 'User' },
} as const

const flagType = 'rulesengine.Flag'

const frame = (text: string): Uint8Array => Buffer.from(text)
const quoted = (text: string): string => JSON.stringify(text)

/** All flags, each as JSON text, with the environment's present: clocks of clients need not be right. */
export function flagsFrame(flags: readonly string[], nowMs: number): Uint8Array {
  const present = new Date(nowMs).toISOString()
  return frame(
    `{"message_type":"full","entity_type":"rulesengine.Flags","server_time":"${present}","data":[${flags.join(',')}]}`,
  )
}

/** One flag, new or changed. */
export function flagFrame(id: string, text: string): Uint8Array {
  return frame(`{"message_type":"full","entity_type":"${flagType}","entity_id":${quoted(id)},"data":${text}}`)
}

export function flagDeleteFrame(id: string, text: string): Uint8Array {
  return frame(
    `{"message_type":"delete","entity_type":"${flagType}","entity_id":${quoted(id)},"data":${text}}`,
  )
}

/** A whole entity. */
export function fullFrame(kind: EntityKind, id: string, parts: EngineParts): Uint8Array {
  return entityFrame('full', kind, id, whole(kind, parts))
}

/** A deleted entity, as it was last sent. */
export function deleteFrame(kind: EntityKind, id: string, parts: EngineParts): Uint8Array {
  return entityFrame('delete', kind, id, whole(kind, parts))
}

/** All that was acknowledged of an entity when the peer asked for this has been told. */
export function confirmedFrame(kind: EntityKind, id: string): Uint8Array {
  return entityFrame('confirmed', kind, id, '{}')
}

export function errorFrame(
  error: string,
  keys: Readonly<Record<string, string>> | null,
  entityType: string | null,
): Uint8Array {
  const data = { error, ...(keys && { keys }), ...(entityType && { entity_type: entityType }) }
  return frame(JSON.stringify({ message_type: 'error', entity_type: entityType ?? '', data }))
}

/**
 * The difference from one snapshot to the next.
 *
 * returns  a partial message; `same` where nothing did; null where a partial one cannot say it: members, keys, balances
 *          or metrics that are no more.
 */
export function partialFrame(
  kind: EntityKind,
  id: string,
  before: EngineParts,
  after: EngineParts,
): Uint8Array | 'same' | null {
  const was = membersOf(before)
  const is = membersOf(after)
  const changed: string[] = []
  for (const [name, text] of is) {
    const former = was.get(name)
    if (former === text) continue
    if (merged.has(name) && former !== undefined && losesName(former, text)) return null
    changed.push(`${quoted(name)}:${text}`)
  }
  for (const name of was.keys()) if (!is.has(name)) return null
  const named = new Set(after.metrics.map(nameOfMetric))
  if (before.metrics.some(text => !named.has(nameOfMetric(text)))) return null
  const known = new Set(before.metrics)
  const metrics = after.metrics.filter(text => !known.has(text))
  if (metrics.length > 0) changed.push(`"metrics":[${metrics.join(',')}]`)
  return changed.length === 0 ? 'same' : entityFrame('partial', kind, id, `{${changed.join(',')}}`)
}

/** A metric's name: its text up to the value. */
const nameOfMetric = (text: string): string => text.slice(0, text.indexOf(',"value":'))

/** Members that a client merges by name. */
const merged: ReadonlySet<string> = new Set(['keys', 'credit_balances'])

function losesName(before: string, after: string): boolean {
  const is = JSON.parse(after) as object
  return Object.keys(JSON.parse(before) as object).some(name => !Object.hasOwn(is, name))
}

function membersOf({ members }: EngineParts): Map<string, string> {
  const found = new Map<string, string>()
  for (let i = 0; i < members.length; i += 2) found.set(members[i]!, members[i + 1]!)
  return found
}

function whole(kind: EntityKind, parts: EngineParts): string {
  const members = [...membersOf(parts)].map(([name, text]) => `${quoted(name)}:${text}`)
  if (kind === 'company') members.push(`"metrics":[${parts.metrics.join(',')}]`)
  return `{${members.join(',')}}`
}

function entityFrame(
  type: 'full' | 'partial' | 'delete' | 'confirmed',
  kind: EntityKind,
  id: string,
  data: string,
): Uint8Array {
  const { wire } = entityTypes[kind]
  return frame(`{"message_type":"${type}","entity_type":"${wire}","entity_id":${quoted(id)},"data":${data}}`)
}
