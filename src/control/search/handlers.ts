// One search over companies, users and definitions, which forgives typing errors.
import type { Sql } from 'postgres'
import type { SearchResult } from '../../../schemas/console.js'
import type { Answer, Call } from '../../kit/call.js'
import { integer, type QueryOf, query, required, text, withDefault } from '../../kit/query.js'
import { inTransaction } from '../../kit/sql.js'

const shape = { q: required(text(128)), limit: withDefault(integer(1, 50), 20) } as const
export const searchQuery = query(shape)

/** How alike a word of a text must be to count, where no text contains what is sought. */
const alike = 0.3
/** Most rows that are weighed for likeness, so that a short word does not read every text. */
const weighedMax = 2_000

interface Found {
  readonly type: SearchResult['type']
  readonly id: string
  readonly name: string
  readonly detail: string
  readonly score: number
}

/**
 * GET /search: names, keys and ids that contain the text, and then those with a word like it; the best first.
 *
 * source  decision: likeness by trigrams.
 */
export async function search(call: Call<undefined, QueryOf<typeof shape>>): Promise<Answer> {
  const { services, environment, key, query } = call
  const asked = query.q.trim()
  const q = asked.toLowerCase()
  if (q === '') return { data: [] }
  await services.projections.barrier('postgres')
  const found = await inTransaction(services.sql, async tx => {
    await tx`select set_config('pg_trgm.word_similarity_threshold', ${String(alike)}, true)`
    const entities = await entitiesLike(tx, environment.id, { id: asked, q }, query.limit)
    const definitions = await definitionsLike(
      tx,
      key.accountId,
      environment.id,
      { id: asked, q },
      query.limit,
    )
    return [...entities, ...definitions]
  })
  const best = found.sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1)).slice(0, query.limit)
  const data: SearchResult[] = best.map(({ type, id, name, detail }) => ({
    type,
    id,
    name: name || id,
    detail: detail === '' || detail === name ? null : detail,
  }))
  return { data }
}

/** The text as it was given, which may be an id, and in lower case. */
interface Sought {
  readonly id: string
  readonly q: string
}

/** Companies and users by id, by a piece of their names, keys and text traits, else by likeness. */
async function entitiesLike(
  tx: Sql,
  environmentId: string,
  { id, q }: Sought,
  limit: number,
): Promise<Found[]> {
  const pattern = `%${q.replaceAll(/[\\%_]/g, '\\$&')}%`
  const rows: Found[] = []
  for (const kind of ['company', 'user'] as const) {
    const whole = await tx<Found[]>`
      select kind as type, id, name, '' as detail,
        (case when id = ${id} then 4 when lower(name) = ${q} then 3 when lower(name) like ${pattern} then 2 else 1.5 end
          + word_similarity(${q}, text))::float8 as score
      from (select * from listed e where e.environment_id = ${environmentId} and e.kind = ${tx.unsafe(`'${kind}'`)}
        and (e.text like ${pattern} or e.id = ${id}) limit ${weighedMax}) e
      order by score desc limit ${limit}`
    rows.push(...whole)
    if (whole.length > 0 || q.length < 3) continue
    rows.push(
      ...(await tx<Found[]>`
        select kind as type, id, name, '' as detail, word_similarity(${q}, text)::float8 as score
        from (select * from listed e where e.environment_id = ${environmentId}
          and e.kind = ${tx.unsafe(`'${kind}'`)} and e.text %> ${q} limit ${weighedMax}) e
        order by score desc limit ${limit}`),
    )
  }
  return rows
}

/** Features, flags, plans and credits: there are few, so each is weighed. */
function definitionsLike(
  tx: Sql,
  accountId: string,
  environmentId: string,
  { id, q }: Sought,
  limit: number,
) {
  return tx<Found[]>`
    select type, id, name, detail, score from (
      select type, id, name, detail,
        (case when id = ${id} or lower(detail) = ${q} or lower(name) = ${q} then 3
          when strpos(lower(name || ' ' || detail), ${q}) > 0 then 2 else 0 end
          + word_similarity(${q}, lower(name || ' ' || detail)))::float8 as score
      from (
        select 'feature' as type, id, name, coalesce(event_subtype, '') as detail from features where account_id = ${accountId}
        union all select 'flag', id, name, key from flags where account_id = ${accountId}
        union all select 'plan', id, name, '' from plans where account_id = ${accountId} and deleted_at is null
          and (environment_id is null or environment_id = ${environmentId})
        union all select 'credit', id, name, '' from billing_credits where environment_id = ${environmentId}
      ) one
    ) weighed where score >= ${alike} order by score desc, name limit ${limit}`
}
