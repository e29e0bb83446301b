// Kinds of records of an import: their members, and how records are compared and written.
import { inParallel } from '../../turns/in-parallel.js'
import type { Client, Heard } from '../client.js'
import { Failure } from '../io.js'
import { keysText } from './keys.js'
import { MemberFault, type Members, type Row, shown } from './members.js'
import type { Names } from './names.js'

/** The result for a record; in a dry run the one it would have. */
export type Outcome =
  | { readonly type: 'made' | 'unchanged' }
  | { readonly type: 'changed'; readonly changes: readonly string[] }
  | { readonly type: 'rejected'; readonly member: string | null; readonly error: string }

/** A record with its place in the file. */
export interface Unit {
  readonly line: number
  readonly lastLine: number
  readonly text: string
  readonly row: Row
}

export interface Context {
  readonly client: Client
  readonly names: Names
  /** Nothing is written. */
  readonly dryRun: boolean
  /** The fingerprint of the file. */
  readonly file: string
  /** Requests at once. */
  readonly parallel: number
  /** Events of which nothing says how their time counts are past use. */
  readonly backfill: boolean
}

export interface Kind {
  /** In the plural, as `companies`. */
  readonly name: string
  readonly members: Members
  /** Lines of JSON without a mapping are taken as they are. */
  readonly takesLines?: boolean
  /** Records that follow each other and have the same value here, not null, are one: `merge` makes it. */
  readonly joinedBy?: (row: Row) => string | null
  readonly merge?: (first: Row, next: Row) => Row
  /** Called for each record in the order of the file, those that were written before an interruption too. */
  readonly prepare?: (row: Row, memory: Map<string, number>) => Row
  /** Short text that names a record to its owner. */
  readonly label: (row: Row) => string
  /** Batches at once: more than one may reorder the records. */
  readonly batches: (context: Context) => number
  readonly write: (context: Context, units: readonly Unit[]) => Promise<readonly Outcome[]>
}

export const made: Outcome = { type: 'made' }
export const unchanged: Outcome = { type: 'unchanged' }

/** `changed` with what differs; `unchanged` where nothing does. */
export function changedBy(changes: readonly string[]): Outcome {
  return changes.length === 0 ? unchanged : { type: 'changed', changes }
}

/** `name: "A" → "B"`. */
export function difference(member: string, from: unknown, to: unknown): string {
  return `${member}: ${from === null || from === undefined ? 'none' : shown(from)} → ${to === null ? 'none' : shown(to)}`
}

/**
 * How a kind writes record by record, a few at a time. Records of one entity follow each other in their order.
 *
 * entity  member with the keys of the entity.
 * errors  Failure when the service is away or the key may not; a refused record is an outcome.
 */
export function byEntity(
  entity: 'company' | 'keys',
  write: (context: Context, row: Row) => Promise<Outcome>,
): Pick<Kind, 'batches' | 'write'> {
  return {
    batches: () => 1,
    write: async (context, units) => {
      const outcomes = new Array<Outcome>(units.length)
      const groups = new Map<string, number[]>()
      for (const [at, { row }] of units.entries()) {
        const keys = keysText(row[entity])
        const group = groups.get(keys)
        if (group) group.push(at)
        else groups.set(keys, [at])
      }
      await inParallel([...groups.values()], context.parallel, async group => {
        for (const at of group) outcomes[at] = await orRejected(() => write(context, units[at]!.row))
      })
      return outcomes
    },
  }
}

async function orRejected(write: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await write()
  } catch (error) {
    if (error instanceof MemberFault) return { type: 'rejected', member: error.member, error: error.message }
    throw error
  }
}

/**
 * `data` of an answer.
 *
 * errors  MemberFault for a record that the service refuses; Failure where no record could be taken.
 */
export function taken<T>({ status, data, error }: Heard): T {
  if (error === null) return data as T
  if (status === 401 || status === 403 || status >= 500) throw new Failure(`${status} ${error}`)
  throw refusal(error)
}

/** A refusal of the service: it begins with the member that it is about. */
export function refusal(error: string): MemberFault {
  return new MemberFault(/^([a-z_][\w.[\]]*):? /.exec(error)?.[1] ?? null, error)
}
