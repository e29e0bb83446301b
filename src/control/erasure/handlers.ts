// Erasure of companies and users, and the export of everything held of one of them (docs/rules/erasure.md).
import { setTimeout as delay } from 'node:timers/promises'
import type { Erasure, ErasureRequest } from '../../../schemas/erasures.js'
import { newId } from '../../account/ids.js'
import { isServiceId } from '../../entities/directory/directory.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import { entityUnknown } from '../../kit/entities.js'
import { page, type QueryOf, query } from '../../kit/query.js'
import type { Services } from '../../kit/services.js'
import { asJson } from '../../kit/sql.js'
import { isoTime } from '../../kit/time.js'
import { type ErasureRow, finishErasure, runErasure } from './erase.js'
import { heldOf } from './held.js'
import { type Entity, type Kind, marksOf } from './marks.js'

const dayMs = 86_400_000
const backupsKeptDays = 30

function entityOf(call: Call<unknown, unknown>, kind: Kind): Entity {
  const id = (kind === 'company' ? call.params.company_id : call.params.user_id)!
  return { kind, id, environmentId: call.environment.id, accountId: call.key.accountId }
}

function view(row: ErasureRow): Erasure {
  return {
    id: row.id,
    environment_id: row.environment_id,
    kind: row.kind,
    entity_id: row.entity_id,
    api_key_id: row.api_key_id,
    removed: { ...row.removed },
    gone_from_files_at: row.files_clear_at && isoTime(row.files_clear_at.getTime()),
    gone_from_backups_at: isoTime(row.gone_from_backups_at.getTime()),
    requested_at: isoTime(row.requested_at.getTime()),
    erased_at: row.erased_at && isoTime(row.erased_at.getTime()),
  }
}

/** A caller waits for so long; the erasure goes on without it. */
const answerMs = 20_000

/**
 * The erasure of an entity: one that is under way or done is answered, and finished if need be. One that takes long is
 * answered before its end, with `erased_at` null.
 *
 * errors  404 for an entity that neither is nor was erased.
 */
async function erase(call: Call<ErasureRequest>, kind: Kind): Promise<Erasure> {
  const entity = entityOf(call, kind)
  const work = runErasure(entity, () => eraseNow(call, entity))
  const late = new AbortController()
  const erased = await Promise.race([
    work,
    delay(answerMs, null, { signal: late.signal, ref: false }).catch(() => null),
  ]).finally(() => late.abort())
  if (erased !== null) return view(erased)
  const { log } = call.services
  work.catch(error =>
    log.warn({ err: error, environment_id: entity.environmentId }, 'an erasure is not finished yet'),
  )
  const row = await lastOf(call.services, entity)
  if (!row) throw new ServiceError('overloaded', 'The erasure has not begun yet; ask again')
  return view(row)
}

async function lastOf({ sql }: Services, { id, environmentId }: Entity): Promise<ErasureRow | undefined> {
  const [row] = await sql<ErasureRow[]>`
    select * from erasures where entity_id = ${id} and environment_id = ${environmentId}
    order by requested_at desc limit 1`
  return row
}

async function eraseNow({ services, key, body }: Call<ErasureRequest>, entity: Entity): Promise<ErasureRow> {
  const { sql, clock, projections } = services
  const { kind, id, environmentId } = entity
  await projections.barrier('postgres')
  const known = await lastOf(services, entity)
  const isHere = isServiceId(kind, 'id', id) && services.directory.has(environmentId, id)
  // after a restore the entity may be back: it is erased again
  if (known?.erased_at && !isHere) return known
  if (!known && !isHere) throw entityUnknown(kind)
  const nowMs = clock.wall()
  const goneAt = new Date(nowMs + (body.backups_kept_days ?? backupsKeptDays) * dayMs)
  const [row] =
    known && !known.erased_at
      ? [known]
      : await sql<ErasureRow[]>`
          insert into erasures ${sql({
            id: newId('eras_'),
            account_id: entity.accountId,
            environment_id: environmentId,
            kind,
            entity_id: id,
            api_key_id: key.id,
            marks: asJson(sql, await marksOf(sql, entity)),
            gone_from_backups_at: goneAt,
            requested_at: new Date(nowMs),
          })} returning *`
  return finishErasure(services, row!)
}

/** POST /companies/{company_id}/erase. source: ER-1…ER-6 */
export const eraseCompany: Handler<ErasureRequest> = async call => ({ data: await erase(call, 'company') })

/** POST /users/{user_id}/erase. source: ER-1…ER-6 */
export const eraseUser: Handler<ErasureRequest> = async call => ({ data: await erase(call, 'user') })

const listShape = { ...page } as const
export const erasureListQuery = query(listShape)

/** GET /erasures, newest first. */
export const listErasures: Handler<undefined, QueryOf<typeof listShape>> = async call => {
  const { limit, offset } = call.query
  const rows = await call.services.sql<ErasureRow[]>`
    select * from erasures where environment_id = ${call.environment.id}
    order by requested_at desc, id desc limit ${limit} offset ${offset}`
  return { data: rows.map(view) }
}

async function exported(call: Call<undefined>, kind: Kind) {
  const { services } = call
  const entity = entityOf(call, kind)
  if (!isServiceId(kind, 'id', entity.id) || !services.directory.has(entity.environmentId, entity.id))
    throw entityUnknown(kind)
  await services.projections.barrier('postgres')
  await services.projections.barrierOf('clickhouse', entity.environmentId)
  return {
    stream: { type: 'application/x-ndjson', name: `${entity.id}.ndjson`, pieces: heldOf(services, entity) },
  }
}

/** GET /companies/{company_id}/export. source: ER-7 */
export const exportCompany: Handler = call => exported(call, 'company')

/** GET /users/{user_id}/export. source: ER-7 */
export const exportUser: Handler = call => exported(call, 'user')
