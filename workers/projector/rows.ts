// The statements of the Postgres projector: rows of companies and users, and how far it has come, in one transaction.
import type { Sql, TransactionSql } from 'postgres'
import { amountToDecimal } from '../../src/core/values/amount.js'
import type { JournalRecord, Sequence } from '../../src/journal/journal.js'
import { factAsText } from '../../src/journal/records/fact-reader.js'
import { failureTextMax, forgetFailures, type Place, PositionMoved, reasonOf } from './chunks.js'
import type { EntityChange, Fold, HoldChange, Row, RowSet } from './fold.js'
import type { Seen } from './seen.js'

/** A range of the journal and its rows. */
interface RowChunk {
  readonly from: Sequence
  readonly upTo: Sequence
  /** Every last_seen_at up to its end is stored with it. */
  readonly seenToo: boolean
  readonly fold: Fold
}

/** Every move is from where the position must be; elsewhere it throws PositionMoved and nothing is written. */
export interface RowStore {
  /** The positions, made when there are none. */
  start(place: Place): Promise<{ readonly sequence: Sequence; readonly seenSequence: Sequence }>
  /** The rows of a chunk and the position behind it, all or nothing. `written` is called before it is committed. */
  write(place: Place, chunk: RowChunk, written: () => void): Promise<void>
  /** Keep a record that makes no rows, and move behind it. */
  putAside(place: Place, from: Sequence, upTo: Sequence, record: JournalRecord, error: unknown): Promise<void>
  /** Write last_seen_at of companies and users by id, complete up to a sequence. */
  writeSeen(place: Place, upTo: Sequence, times: ReadonlyMap<string, Seen>): Promise<void>
}

export function postgresRows(sql: Sql): RowStore {
  return {
    async start({ generation, shard }) {
      const [row] = await sql<{ sequence: string; seen_sequence: string }[]>`
        insert into projections (generation, shard, store) values (${generation}, ${shard}, 'postgres')
        on conflict (generation, shard, store) do update set store = excluded.store
        returning sequence, seen_sequence`
      return { sequence: Number(row!.sequence), seenSequence: Number(row!.seen_sequence) }
    },
    async write(place, chunk, written) {
      if (chunk.fold.facts === 0) return move(sql, place, chunk)
      await sql.begin(async tx => {
        await Promise.all([move(tx, place, chunk), ...writes(tx, chunk.fold)])
        written()
      })
    },
    async putAside(place, from, upTo, record, error) {
      const { generation, shard } = place
      const text = factAsText(record.fact).slice(0, failureTextMax).replaceAll('\0', '\ufffd')
      await sql.begin(async tx => {
        await move(tx, place, { from, upTo, seenToo: false })
        await tx`
          insert into projection_failures (generation, shard, store, sequence, error, record)
          values (${generation}, ${shard}, 'postgres', ${record.sequence}, ${reasonOf(error)}, ${text})
          on conflict do nothing`
        await forgetFailures(tx)
      })
    },
    async writeSeen({ generation, shard }, upTo, seen) {
      const companies: Row[] = []
      const users: Row[] = []
      for (const [id, { kind, atMs, absolute }] of seen)
        (kind === 'c' ? companies : users).push({ id, at: new Date(atMs).toISOString(), absolute })
      await sql.begin(tx =>
        Promise.all([
          tx`
            update projections set seen_sequence = greatest(seen_sequence, ${upTo})
            where generation = ${generation} and shard = ${shard} and store = 'postgres'`,
          ...(companies.length > 0 ? [updateSeen(tx, 'companies', companies)] : []),
          ...(users.length > 0 ? [updateSeen(tx, 'users', users)] : []),
        ]),
      )
    },
  }
}

async function move(
  sql: Sql | TransactionSql,
  place: Place,
  { from, upTo, seenToo }: Omit<RowChunk, 'fold'>,
): Promise<void> {
  const moved = await sql`
    update projections
    set sequence = ${upTo}, seen_sequence = case when ${seenToo} then ${upTo} else seen_sequence end
    where generation = ${place.generation} and shard = ${place.shard} and store = 'postgres'
      and sequence = ${from}`
  if (moved.count !== 1) throw new PositionMoved('postgres', place, from)
}

/** Every statement of a fold, in the order they must run; sent without waiting in between. */
function writes(tx: TransactionSql, fold: Fold): Promise<unknown>[] {
  const all: Promise<unknown>[] = []
  const gone = [...fold.goneCompanies, ...fold.goneUsers]
  if (gone.length > 0) all.push(...forget(tx, fold, gone))
  for (const [table, columns, set] of tables(fold)) all.push(...putRows(tx, table, columns, set))
  if (fold.grantChanges.size > 0) all.push(changeGrants(tx, fold))
  if (fold.holds.size > 0) all.push(...putHolds(tx, [...fold.holds.values()]))
  if (fold.plans.size > 0) all.push(...putPlans(tx, fold))
  if (fold.billingDue.size > 0) all.push(...putBilling(tx, fold))
  if (fold.entityHistory.length > 0) all.push(putHistory(tx, fold.entityHistory))
  all.push(...putEntities(tx, 'companies', fold.companies), ...putEntities(tx, 'users', fold.users))
  if (fold.calledOff.size > 0)
    all.push(tx`
      update billing_subscriptions set own = jsonb_set(own, '{scheduled}', 'null')
      where company_id = any(${[...fold.calledOff]}::text[]) and own->>'scheduled' is not null`)
  if (fold.relisted.size + fold.relistedByTrait.length > 0) all.push(listAgain(tx, fold))
  return all
}

/**
 * Lists show traits that are texts, and no others. Without any the function is not called: each call plans its statement
 * anew, which costs more than the rest of a small transaction. source: CU-60
 */
function listAgain(tx: TransactionSql, { relisted, relistedByTrait }: Fold): Promise<unknown> {
  const entities = relistedByTrait.map(([id]) => id)
  const definitions = relistedByTrait.map(([, definitionId]) => definitionId)
  return tx`
    select list_again(ids) from (
      select array_agg(id) as ids from (
        select unnest(${[...relisted]}::text[]) as id
        union select changed.id
          from unnest(${entities}::text[], ${definitions}::text[]) as changed (id, definition_id)
          left join trait_definitions d on d.id = changed.definition_id
          where coalesce(d.trait_type, 'string') in ('string', 'url')) as each) as all_of_them
    where ids is not null`
}

const definition = 'id text, environment_id text, entity_type text,'
const times = 'created_at timestamptz, updated_at timestamptz'
const keyColumns = `${definition} key text, ${times}`
const traitColumns = `${definition} name text, hierarchy jsonb, trait_type text, ${times}`
const valueColumns = `${definition} entity_id text, definition_id text, name text, value text, ${times}`
const membershipColumns = `id text, environment_id text, company_id text, user_id text, ${times}`
const overrideColumns = `id text, environment_id text, company_id text, feature_id text, entitlement jsonb,
  expires_at timestamptz, ${times}`
const overrideChangeColumns = `id text, environment_id text, company_id text, override_id text, entitlement jsonb,
  expires_at timestamptz, changed_at timestamptz`
const subscriptionColumns = `id text, environment_id text, company_id text, external_id text, status text, state jsonb,
  updated_at timestamptz`
const creditColumns = 'company_id text, credit_id text, environment_id text, created_at timestamptz'
const grantColumns = `id text, environment_id text, company_id text, credit_id text, sequence bigint, reason text,
  quantity numeric, valid_from timestamptz, expires_at timestamptz, plan_id text, plan_grant_id text, licence integer,
  bundle_id text, source_grant_id text, currency text, renewal_period text, ${times}`
const changedHoldColumns = `id text, granted numeric, tracked numeric, expires_at timestamptz, released_at timestamptz,
  released_reason text, updated_at timestamptz`
const holdColumns = `${changedHoldColumns}, environment_id text, company_id text, credit_id text, kind text,
  created_at timestamptz`
const planChangeColumns = `id text, environment_id text, company_id text, action text, base_plan_action text,
  subscription_change_action text, actor_type text, api_key_id text, previous_plan_id text, previous_version_id text,
  plan_id text, version_id text, add_ons_added jsonb, add_ons_removed jsonb, trial_status text,
  trial_ends_at timestamptz, created_at timestamptz, migration_id text, moved jsonb`
const planColumns = `company_id text, plan_id text, kind text, environment_id text, version_id text, price_id text,
  added_at timestamptz, trial_end_at timestamptz, trial_end_setting text, trial_status text`

const timerColumns = 'id text, environment_id text, company_id text, due_at timestamptz'
const holdKeyColumns =
  'id text, environment_id text, kind text, key text, company_id text, used_at timestamptz'
const endedTrialColumns = `id text, environment_id text, company_id text, subscription_id text, plan_id text,
  began_at timestamptz, trial_end_at timestamptz, trial_end_setting text, status text, created_at timestamptz`

const noticeColumns = `id text, environment_id text, type text, company_id text, feature_id text, credit_id text,
  happened text`

type Columns = { readonly from: string; readonly onConflict: string }

const keep = 'do nothing'
const values: Columns = {
  from: valueColumns,
  onConflict: '(id) do update set value = excluded.value, updated_at = excluded.updated_at',
}

function tables(fold: Fold): [string, Columns, RowSet][] {
  return [
    ['key_definitions', { from: keyColumns, onConflict: keep }, fold.keyDefinitions],
    ['trait_definitions', { from: traitColumns, onConflict: keep }, fold.traitDefinitions],
    ['entity_keys', values, fold.keys],
    ['entity_traits', values, fold.traits],
    ['memberships', { from: membershipColumns, onConflict: keep }, fold.memberships],
    [
      'company_overrides',
      {
        from: overrideColumns,
        onConflict: `(id) do update set feature_id = excluded.feature_id, entitlement = excluded.entitlement,
          expires_at = excluded.expires_at, updated_at = excluded.updated_at`,
      },
      fold.overrides,
    ],
    [
      'override_changes',
      {
        from: overrideChangeColumns,
        onConflict: '(id) do update set entitlement = excluded.entitlement, expires_at = excluded.expires_at',
      },
      fold.overrideChanges,
    ],
    [
      'company_subscriptions',
      {
        from: subscriptionColumns,
        onConflict: `(id) do update set external_id = excluded.external_id, status = excluded.status,
          state = excluded.state, updated_at = excluded.updated_at`,
      },
      fold.subscriptions,
    ],
    ['company_credits', { from: creditColumns, onConflict: keep }, fold.credits],
    ['credit_grants', { from: grantColumns, onConflict: keep }, fold.grants],
    ['plan_changes', { from: planChangeColumns, onConflict: keep }, fold.planChanges],
    [
      'company_timers',
      {
        from: timerColumns,
        onConflict: '(id) do update set company_id = excluded.company_id, due_at = excluded.due_at',
      },
      fold.timers,
    ],
    [
      'hold_keys',
      {
        from: holdKeyColumns,
        onConflict:
          '(id) do update set company_id = excluded.company_id, used_at = excluded.used_at, made_at = now()',
      },
      fold.holdKeys,
    ],
    ['paid_effects', { from: 'claim text', onConflict: keep }, fold.paidEffects],
    ['webhook_outbox', { from: noticeColumns, onConflict: keep }, fold.notices],
    ['ended_trials', { from: endedTrialColumns, onConflict: keep }, fold.endedTrials],
  ]
}

// One JSON parameter per statement: a row of any width costs no further parameter.
function putRows(tx: TransactionSql, table: string, columns: Columns, set: RowSet): Promise<unknown>[] {
  const all: Promise<unknown>[] = []
  if (set.removed.size > 0) all.push(tx`delete from ${tx(table)} where id = any(${[...set.removed]}::text[])`)
  if (set.rows.size > 0) all.push(insert(tx, table, columns, [...set.rows.values()]))
  return all
}

function insert(tx: TransactionSql, table: string, columns: Columns, rows: readonly Row[]): Promise<unknown> {
  const names = columns.from
    .split(',')
    .map(column => column.trim().split(' ')[0])
    .join(', ')
  return tx.unsafe(
    `insert into ${table} (${names}) select ${names} from jsonb_to_recordset($1::text::jsonb) as row(${columns.from})
     on conflict ${columns.onConflict}`,
    [jsonText(rows)],
    { prepare: true },
  )
}

/** After the births; the position moves in the same transaction, so that an addition is made once. */
function changeGrants(tx: TransactionSql, fold: Fold): Promise<unknown> {
  const rows = [...fold.grantChanges.values()].map(change => ({
    id: change.id,
    written_off: amountToDecimal(change.writtenOff),
    zeroed_out_at: change.zeroedOutAt,
    zeroed_out_reason: change.zeroedOutReason,
    quantity: change.quantity,
    expires_at: change.expiresAt,
    updated_at: change.updatedAt,
  }))
  return tx`
    update credit_grants as row set
      written_off = row.written_off + change.written_off,
      zeroed_out_at = coalesce(row.zeroed_out_at, change.zeroed_out_at),
      zeroed_out_reason = coalesce(row.zeroed_out_reason, change.zeroed_out_reason),
      quantity = coalesce(change.quantity, row.quantity),
      expires_at = coalesce(change.expires_at, row.expires_at),
      updated_at = change.updated_at
    from jsonb_to_recordset(${jsonText(rows)}::text::jsonb) as change(id text, written_off numeric,
      zeroed_out_at timestamptz, zeroed_out_reason text, quantity numeric, expires_at timestamptz,
      updated_at timestamptz)
    where row.id = change.id`
}

/** History is added in its order; the position moves in the same transaction, so that each entry is added once. */
function putBilling(tx: TransactionSql, { billingHistory, billingDue }: Fold): Promise<unknown>[] {
  const due = tx`
    insert into billing_due (company_id, environment_id, due_ms)
    select company_id, environment_id, due_ms
    from jsonb_to_recordset(${jsonText([...billingDue.values()])}::text::jsonb)
      as row(company_id text, environment_id text, due_ms bigint)
    on conflict (company_id) do update set
      due_ms = least(billing_due.due_ms, excluded.due_ms), touched = billing_due.touched + 1`
  if (billingHistory.length === 0) return [due]
  const history = tx`
    insert into billing_history (environment_id, company_id, kind, subscription_id, at_ms, state)
    select environment_id, company_id, kind, subscription_id, at_ms, nullif(state, 'null'::jsonb)
    from jsonb_to_recordset(${jsonText(billingHistory)}::text::jsonb)
      as row(environment_id text, company_id text, kind text, subscription_id text, at_ms bigint, state jsonb)`
  return [history, due]
}

/** History of keys and traits is added in its order, each entry once, as that of billing is. */
function putHistory(tx: TransactionSql, entries: readonly Row[]): Promise<unknown> {
  return tx`
    insert into entity_history (environment_id, kind, entity_id, slot, at_ms, value)
    select environment_id, kind, entity_id, slot, at_ms, value
    from jsonb_to_recordset(${jsonText(entries)}::text::jsonb)
      as row(environment_id text, kind text, entity_id text, slot text, at_ms bigint, value text)`
}

/** Holds that were opened, and changes of others; as with grants, an addition is made once. */
function putHolds(tx: TransactionSql, changes: readonly HoldChange[]): Promise<unknown>[] {
  const rowOf = (change: HoldChange) => ({
    id: change.id,
    granted: amountToDecimal(change.granted),
    tracked: amountToDecimal(change.tracked),
    expires_at: change.expiresAt,
    released_at: change.releasedAt,
    released_reason: change.releasedReason,
    updated_at: change.updatedAt,
  })
  const opened = changes.flatMap(change => (change.opened ? [{ ...rowOf(change), ...change.opened }] : []))
  const changed = changes.filter(change => change.opened === null).map(rowOf)
  const all: Promise<unknown>[] = []
  if (opened.length > 0) all.push(insert(tx, 'credit_holds', { from: holdColumns, onConflict: keep }, opened))
  if (changed.length > 0)
    all.push(
      tx.unsafe(
        `update credit_holds as row set
           granted = row.granted + change.granted,
           tracked = row.tracked + change.tracked,
           expires_at = coalesce(change.expires_at, row.expires_at),
           released_at = coalesce(change.released_at, row.released_at),
           released_reason = coalesce(change.released_reason, row.released_reason),
           updated_at = change.updated_at
         from jsonb_to_recordset($1::text::jsonb) as change(${changedHoldColumns})
         where row.id = change.id`,
        [jsonText(changed)],
        { prepare: true },
      ),
    )
  return all
}

function putPlans(tx: TransactionSql, fold: Fold): Promise<unknown>[] {
  const changes = [...fold.plans.values()]
  const deletion = tx`
    delete from company_plans where (company_id, kind) in (
      select * from unnest(
        ${changes.map(change => change.companyId)}::text[], ${changes.map(change => change.kind)}::text[]))`
  const rows = changes.flatMap(change => change.rows)
  if (rows.length === 0) return [deletion]
  return [deletion, insert(tx, 'company_plans', { from: planColumns, onConflict: keep }, rows)]
}

function putEntities(
  tx: TransactionSql,
  table: 'companies' | 'users',
  changes: ReadonlyMap<string, EntityChange>,
): Promise<unknown>[] {
  const made: Row[] = []
  const changed: Row[] = []
  for (const change of changes.values()) {
    const { id, created, name, updatedAt, lastSeenAt } = change
    if (created === null) changed.push({ id, name, updated_at: updatedAt, last_seen_at: lastSeenAt })
    else
      made.push({
        id,
        environment_id: change.environmentId,
        name: name ?? created.name,
        created_at: created.at,
        updated_at: updatedAt,
        last_seen_at: lastSeenAt,
      })
  }
  const all: Promise<unknown>[] = []
  if (made.length > 0)
    all.push(
      insert(
        tx,
        table,
        {
          from: `id text, environment_id text, name text, ${times}, last_seen_at timestamptz`,
          onConflict: `(id) do update set name = excluded.name, created_at = excluded.created_at,
            updated_at = excluded.updated_at, last_seen_at = excluded.last_seen_at`,
        },
        made,
      ),
    )
  if (changed.length > 0)
    all.push(tx`
      update ${tx(table)} as row set
        name = coalesce(change.name, row.name),
        updated_at = coalesce(change.updated_at, row.updated_at),
        last_seen_at = coalesce(change.last_seen_at, row.last_seen_at)
      from jsonb_to_recordset(${jsonText(changed)}::text::jsonb)
        as change(id text, name text, updated_at timestamptz, last_seen_at timestamptz)
      where row.id = change.id`)
  return all
}

function updateSeen(
  tx: TransactionSql,
  table: 'companies' | 'users',
  rows: readonly Row[],
): Promise<unknown> {
  return tx`
    update ${tx(table)} as row
    set last_seen_at = case when seen.absolute then seen.at else greatest(row.last_seen_at, seen.at) end
    from jsonb_to_recordset(${jsonText(rows)}::text::jsonb) as seen(id text, at timestamptz, absolute boolean)
    where row.id = seen.id`
}

/** Values of traits that may be sold by use stay until the last period of their company is closed. source: RA-18 */
function keepCounted(
  tx: TransactionSql,
  companies: readonly string[],
  told: readonly Row[],
): Promise<unknown> {
  return tx`
    insert into gone_traits (environment_id, company_id, name, at_ms, value)
    with counted as materialized (
      select e.id as environment_id,
        'trait:' || array_to_string(array(select jsonb_array_elements_text(f.trait_hierarchy)), '.') as slot
      from features f join environments e on e.account_id = f.account_id
      where f.feature_type = 'trait' and e.id in (
        select environment_id from companies where id = any(${companies as string[]}::text[])
        union select environment_id from jsonb_to_recordset(${jsonText(told)}::text::jsonb) as row(environment_id text)))
    select environment_id, entity_id, substr(slot, 7), at_ms, substring(value from '^\\s*(-?\\d+)')
    from (
      select 0 as turn, place, environment_id, entity_id, slot, at_ms, value from entity_history
      where entity_id = any(${companies as string[]}::text[])
      union all
      select 1, n, environment_id, entity_id, slot, at_ms, value from rows from (
        jsonb_to_recordset(${jsonText(told)}::text::jsonb)
          as (environment_id text, entity_id text, slot text, at_ms bigint, value text)) with ordinality
        as row(environment_id, entity_id, slot, at_ms, value, n)) as known
    where (environment_id, slot) in (select environment_id, slot from counted)
    order by turn, place`
}

// CU-50, CU-52. Events and the ledger stay.
function forget(tx: TransactionSql, fold: Fold, gone: readonly string[]): Promise<unknown>[] {
  const companies = [...fold.goneCompanies]
  const users = [...fold.goneUsers]
  return [
    ...(companies.length > 0 ? [keepCounted(tx, companies, fold.goneTraits)] : []),
    tx`delete from companies where id = any(${companies}::text[])`,
    tx`delete from users where id = any(${users}::text[])`,
    tx`delete from listed where id = any(${gone as string[]}::text[])`,
    tx`delete from entity_keys where entity_id = any(${gone as string[]}::text[])`,
    tx`delete from entity_traits where entity_id = any(${gone as string[]}::text[])`,
    tx`delete from entity_history where entity_id = any(${gone as string[]}::text[])`,
    tx`delete from memberships where company_id = any(${companies}::text[])`,
    tx`delete from memberships where user_id = any(${users}::text[])`,
    tx`delete from company_overrides where company_id = any(${companies}::text[])`,
    tx`delete from override_changes where company_id = any(${companies}::text[])`,
    tx`delete from company_plans where company_id = any(${companies}::text[])`,
    tx`delete from company_subscriptions where company_id = any(${companies}::text[])`,
    tx`delete from company_credits where company_id = any(${companies}::text[])`,
    tx`delete from company_timers where company_id = any(${companies}::text[])`,
  ]
}

/**
 * JSON that Postgres takes. It holds neither NUL nor half a surrogate pair, and one refused text would hold up
 * everything behind it: both become U+FFFD. Such a text is found again by its actor, only lists show it changed.
 */
function jsonText(rows: readonly Row[]): string {
  const text = JSON.stringify(rows)
  if (!text.includes('\\u0000') && !text.includes('\\ud')) return text
  return JSON.stringify(rows, (_, value: unknown) =>
    typeof value === 'string' ? Buffer.from(value).toString().replaceAll('\0', '\ufffd') : value,
  )
}
