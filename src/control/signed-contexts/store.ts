// Statements of context secrets.
import type { Sql } from 'postgres'
import type { EnvironmentRow } from '../../account/keys.js'

/** Give an environment a new secret; the former one is accepted until `untilMs`. `updated_at` always grows. */
export async function rollSecret(
  sql: Sql,
  environmentId: string,
  secret: string,
  nowMs: number,
  untilMs: number,
): Promise<EnvironmentRow | null> {
  const [row] = await sql<EnvironmentRow[]>`
    update environments set context_secret = ${secret}, former_context_secret = context_secret,
      former_context_secret_until = ${new Date(untilMs)},
      updated_at = greatest(${new Date(nowMs)}, updated_at + interval '1 millisecond')
    where id = ${environmentId} returning *`
  return row ?? null
}
