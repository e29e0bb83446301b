// Bounds on what callers define. Postgres holds them (sql/postgres, definition_bounds), so that every route does.
// source: security M4; the numbers: decisions.
import type { Sql } from 'postgres'
import { ServiceError } from '../errors.js'

/** Part of an account's bounds that keys bound to a test environment may fill; the rest is for production. */
const testPart = 0.75
/** Parts of definitions (rules, versions, entitlements, prices) and records of companies, by definition. */
const partsEach = 20
const recordsEach = 500

/**
 * Write down the bounds that inserts are held to.
 *
 * definitionsMax  definitions of one kind, of an environment; features, flags, plans, keys: of the account.
 */
export async function setDefinitionBounds(sql: Sql, definitionsMax: number): Promise<void> {
  const rows = [
    { name: 'definitions', most: definitionsMax },
    { name: 'parts', most: definitionsMax * partsEach },
    { name: 'records', most: definitionsMax * recordsEach },
  ]
  await sql`
    insert into definition_bounds ${sql(rows)}
    on conflict (name) do update set most = excluded.most where definition_bounds.most <> excluded.most`
}

/** Let this transaction fill only the part of the account's bounds that a test environment has. */
export async function ofTestEnvironment(tx: Sql): Promise<void> {
  await tx`select set_config('tollgate.part', ${String(testPart)}, true)`
}

/**
 * Refuse another override of a company that has as many as definitions of one kind may be, expired ones included: they
 * stay readable. Postgres follows the journal here, so the bound is held before the company is asked.
 *
 * errors  quota_full (429).
 */
export async function requireRoomForOverride(sql: Sql, companyId: string): Promise<void> {
  const [full] = await sql<{ most: string }[]>`
    select b.most from definition_bounds b where b.name = 'definitions' and b.most <=
      (select count(*) from (select from company_overrides where company_id = ${companyId} limit b.most) as counted)`
  if (full !== undefined)
    throw new ServiceError(
      'quota_full',
      `company overrides: the company has as many as there may be, ${full.most}`,
      { extra: { bucket: 'mutation' }, retryAfterSeconds: 3_600 },
    )
}
