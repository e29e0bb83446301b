// Messages of the data stream as they are sent.
import type { LowercaseNames } from '../../account/key-types.js'
import type { SnapshotParts } from '../../wire/snapshot-parts.js'

export type EntityKind = 'company' | 'user'

/** Names of the entity kinds on the wire and in messages for people. */
export const entityTypes = {
  company: { wire: 'rulesengine.Company', name: 'Company' },
  user: { wire: 'rulesengine.User', name: 'User' },
} as const

/** A snapshot in memory: JSON texts of members by name, and of metrics by identity. */
export interface HeldParts {
  readonly members: Map<string, string>
  readonly metrics: Map<string, string>
}

const flagType = 'rulesengine.Flag'

const frame = (text: string): Uint8Array => Buffer.from(text)
const quoted = (text: string): string => JSON.stringify(text)

/**
 * All flags, each as JSON text, with the environment's present: clients' clocks may be wrong.
 *
 * lowercase  names of keys whose values are kept in lower case (CU-4); null: there are none.
 */
export function flagsFrame(
  flags: readonly string[],
  nowMs: number,
  lowercase: LowercaseNames | null,
): Uint8Array {
  const named = lowercase === null ? '' : `"lowercase_keys":${JSON.stringify(lowercase)},`
  const present = new Date(nowMs).toISOString()
  return frame(
    `{"message_type":"full","entity_type":"rulesengine.Flags","server_time":"${present}",${named}"data":[${flags.join(',')}]}`,
  )
}

/** The answer to a ping. */
export const pongFrame = frame('{"message_type":"pong","entity_type":"","data":{}}')

/** The notice to a page: a check of its company and user may have changed. */
export const changedFrame = frame('{"message_type":"changed","entity_type":"checks","data":{}}')

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
export function fullFrame(kind: EntityKind, id: string, parts: HeldParts): Uint8Array {
  return entityFrame('full', kind, id, whole(kind, parts))
}

/** A deleted entity, in its last sent state. */
export function deleteFrame(kind: EntityKind, id: string, parts: HeldParts): Uint8Array {
  return entityFrame('delete', kind, id, whole(kind, parts))
}

/** Confirms an entity: everything acknowledged before the peer's request has been sent. */
export function confirmedFrame(kind: EntityKind, id: string): Uint8Array {
  return entityFrame('confirmed', kind, id, '{}')
}

/** Tells which pairs of a request are found in lower case (CU-4). No entity has these pairs as they are written. */
export function foundFrame(kind: EntityKind, id: string, keys: Readonly<Record<string, string>>): Uint8Array {
  return entityFrame('found', kind, id, JSON.stringify({ keys }))
}

export function errorFrame(
  error: string,
  keys: Readonly<Record<string, string>> | null,
  entityType: string | null,
  watched = false,
): Uint8Array {
  const named = { ...(keys && { keys }), ...(entityType && { entity_type: entityType }) }
  const data = { error, ...named, ...(watched && { watched }) }
  return frame(JSON.stringify({ message_type: 'error', entity_type: entityType ?? '', data }))
}

/** The changed members and metrics of an entity. */
export function partialFrame(kind: EntityKind, id: string, { members, metrics }: SnapshotParts): Uint8Array {
  return entityFrame('partial', kind, id, dataOf(members, metrics))
}

/** Identity of a metric: its text up to the value. */
export const nameOfMetric = (text: string): string => text.slice(0, text.indexOf(',"value":'))

function whole(kind: EntityKind, { members, metrics }: HeldParts): string {
  return dataOf(members, [...metrics.values()], kind === 'company')
}

function dataOf(
  members: ReadonlyMap<string, string>,
  metrics: readonly string[],
  withMetrics = metrics.length > 0,
): string {
  let text = ''
  for (const [name, value] of members) text += `${text === '' ? '' : ','}"${name}":${value}`
  if (withMetrics) text += `${text === '' ? '' : ','}"metrics":[${metrics.join(',')}]`
  return `{${text}}`
}

function entityFrame(
  type: 'full' | 'partial' | 'delete' | 'confirmed' | 'found',
  kind: EntityKind,
  id: string,
  data: string,
): Uint8Array {
  const { wire } = entityTypes[kind]
  return frame(`{"message_type":"${type}","entity_type":"${wire}","entity_id":${quoted(id)},"data":${data}}`)
}
