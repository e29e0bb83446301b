// Inserts and updates flags, for the flag routes and for features.
import type { Sql } from 'postgres'
import { newId } from '../../account/ids.js'
import { ServiceError } from '../../errors.js'
import { requireMember } from '../members/rows.js'
import type { FlagRow } from './view.js'

/** Members of a flag that callers set; undefined is unchanged. */
export interface FlagChange {
  readonly key?: string | undefined
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly defaultValue?: boolean | undefined
  readonly featureId?: string | null | undefined
  readonly maintainerId?: string | null | undefined
}

/** A new flag: members without a default are required. */
interface NewFlag extends FlagChange {
  readonly key: string
  readonly name: string
  readonly description: string
  readonly defaultValue: boolean
}

export async function findFlag(sql: Sql, accountId: string, id: string): Promise<FlagRow | null> {
  const [row] = await sql<FlagRow[]>`select * from flags where id = ${id} and account_id = ${accountId}`
  return row ?? null
}

/**
 * Write a new flag.
 *
 * errors  400 when the key is taken or the feature has a flag (EN-1); 404 when feature or maintainer are unknown.
 */
export async function insertFlag(
  sql: Sql,
  accountId: string,
  flag: NewFlag,
  nowMs: number,
): Promise<FlagRow> {
  await requireMember(sql, accountId, flag.maintainerId ?? null)
  await requireFree(sql, accountId, flag, null)
  const now = new Date(nowMs)
  const [row] = await sql<FlagRow[]>`
    insert into flags ${sql({
      id: newId('flag_'),
      account_id: accountId,
      key: flag.key,
      name: flag.name,
      description: flag.description,
      default_value: flag.defaultValue,
      feature_id: flag.featureId ?? null,
      maintainer_account_member_id: flag.maintainerId ?? null,
      created_at: now,
      updated_at: now,
    })} returning *`
  return row!
}

/** Change a flag; errors as `insertFlag`. */
export async function updateFlag(
  sql: Sql,
  former: FlagRow,
  change: FlagChange,
  nowMs: number,
): Promise<FlagRow> {
  await requireMember(sql, former.account_id, change.maintainerId ?? null)
  await requireFree(sql, former.account_id, change, former.id)
  const [row] = await sql<FlagRow[]>`
    update flags set ${sql({
      key: change.key ?? former.key,
      name: change.name ?? former.name,
      description: change.description ?? former.description,
      default_value: change.defaultValue ?? former.default_value,
      feature_id: change.featureId === undefined ? former.feature_id : change.featureId,
      maintainer_account_member_id:
        change.maintainerId === undefined ? former.maintainer_account_member_id : change.maintainerId,
      updated_at: new Date(nowMs),
    })} where id = ${former.id} returning *`
  return row!
}

// The key must be free, and the feature must exist and have no other flag.
async function requireFree(
  sql: Sql,
  accountId: string,
  flag: FlagChange,
  ownId: string | null,
): Promise<void> {
  if (flag.key !== undefined) {
    const [taken] = await sql<{ id: string }[]>`
      select id from flags where account_id = ${accountId} and key = ${flag.key} and id <> ${ownId ?? ''}`
    if (taken) throw new ServiceError('state_conflict', `key: flag ${taken.id} has this key`)
  }
  if (flag.featureId == null) return
  const features =
    await sql`select 1 from features where id = ${flag.featureId} and account_id = ${accountId}`
  if (features.length === 0) throw new ServiceError('not_found', 'feature_id: no such feature')
  const [other] = await sql<{ id: string }[]>`
    select id from flags where feature_id = ${flag.featureId} and id <> ${ownId ?? ''}`
  if (other)
    throw new ServiceError('state_conflict', `feature_id: the feature already has the flag ${other.id}`)
}

const slugLengthMax = 200

/** A key made from a name: lower case, with "-" for runs of other characters than letters and digits. */
export function slugOf(name: string): string {
  const plain = name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  const slug = plain.replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-|-$/g, '')
  return slug.slice(0, slugLengthMax) || 'feature'
}

/** The slug, or the slug with the lowest number that makes it a free key. */
export async function freeKey(sql: Sql, accountId: string, slug: string): Promise<string> {
  const rows = await sql<{ key: string }[]>`
    select key from flags where account_id = ${accountId} and (key = ${slug} or starts_with(key, ${`${slug}-`}))`
  const taken = new Set(rows.map(row => row.key))
  let key = slug
  for (let i = 2; taken.has(key); i++) key = `${slug}-${i}`
  return key
}
