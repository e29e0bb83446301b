// Environments, and the test clock of each.
import type {
  ClockUpdate,
  EnvironmentClock,
  EnvironmentCreate,
  EnvironmentDetail,
  EnvironmentUpdate,
} from '../../../schemas/environments.js'
import { insertEnvironment } from '../../account/bootstrap.js'
import { type ClockWish, testClockTarget } from '../../account/clock.js'
import { reaches } from '../../account/conditions.js'
import type { LowercaseNames } from '../../account/key-types.js'
import { environmentRecord, keyRecord } from '../../account/keys.js'
import { ServiceError } from '../../errors.js'
import type { Call, EnvironmentRecord, Handler } from '../../kit/call.js'
import { list, page, type QueryOf, query } from '../../kit/query.js'
import type { Services } from '../../kit/services.js'
import { isoTime, requireTime } from '../../kit/time.js'
import { whole } from '../../kit/unchanged.js'
import { apiKeyView, environmentView } from '../keys/view.js'
import { ensureFeatureTraits } from '../traits/rows.js'
import { clearStores } from './clear.js'
import {
  countEnvironments,
  deleteEnvironment,
  featureTraits,
  findEnvironment,
  keysOf,
  updateEnvironment,
} from './store.js'

const listShape = { ids: list, ...page } as const
export const environmentListQuery = query(listShape)

/** GET /environments within the key's reach, newest first (AL-51). */
export const listEnvironments: Handler<undefined, QueryOf<typeof listShape>> = ({ services, key, query }) => {
  const all = services.keys
    .environments(key.accountId)
    .filter(environment => reaches(key, environment.id))
    .toReversed()
  const named = query.ids ? all.filter(environment => query.ids!.includes(environment.id)) : all
  return { data: named.slice(query.offset, query.offset + query.limit).map(environmentView) }
}

// The environment in the path. It must belong to the caller's account and be within the key's reach.
function named({ services, key, params }: Call<unknown, unknown>): EnvironmentRecord {
  const environment = services.keys.environment(params.environment_id!)
  if (environment?.accountId !== key.accountId || !reaches(key, environment.id)) throw unknownEnvironment()
  return environment
}

function unknownEnvironment(): ServiceError {
  return new ServiceError('not_found', 'Environment not found')
}

/**
 * POST /environments. Also creates its publishable key, whose value is shown (decision 13), and the traits that the
 * account's features name (EN-2).
 */
export const createEnvironment: Handler<EnvironmentCreate> = async ({ services, key, body }) => {
  const { sql, keys, traits, clock, catalogs } = services
  const nowMs = clock.wall()
  const id = await catalogs.change({ accountId: key.accountId, environmentId: null }, async tx => {
    const made = await insertEnvironment(tx, keys, {
      accountId: key.accountId,
      name: body.name,
      type: body.environment_type,
      nowMs,
    })
    await ensureFeatureTraits(tx, traits, [made], await featureTraits(tx, key.accountId), nowMs)
    return made
  })
  const row = await findEnvironment(sql, id)
  if (!row) throw unknownEnvironment()
  const environment = environmentRecord(row)
  keys.putEnvironment(environment)
  const rows = await keysOf(sql, id)
  for (const one of rows) keys.put(keyRecord(one), one.secret_hash)
  return { status: 201, data: environmentDetail(environment, services, rows) }
}

function environmentDetail(
  environment: EnvironmentRecord,
  services: Services,
  rows: Awaited<ReturnType<typeof keysOf>>,
): EnvironmentDetail {
  return { ...environmentView(environment), api_keys: rows.map(row => apiKeyView(row, services)) }
}

/** GET /environments/{environment_id}. */
export const getEnvironment: Handler = call => ({ data: environmentView(named(call)) })

/**
 * PUT /environments/{environment_id}.
 *
 * errors  400 for making it production while a test clock is set, which production cannot have (decision 11).
 */
export const changeEnvironment: Handler<EnvironmentUpdate> = async call => {
  const { services, body } = call
  const { keys, clock, catalogs } = services
  const had = named(call)
  const { id, accountId } = had
  if (body.environment_type === 'production' && clock.testClock(id))
    throw new ServiceError('state_conflict', 'environment_type: remove the test clock first')
  const said = whole(body, environmentView(had))
  const row = await catalogs.change({ accountId, environmentId: id }, tx =>
    updateEnvironment(
      tx,
      id,
      {
        name: said.name ?? had.name,
        environmentType: said.environment_type ?? had.environmentType,
        requireContextSignature: said.require_context_signature ?? had.requireContextSignature,
        publishableLimits: body.publishable_limits,
        lowercaseKeys: lowercaseKeysOf(body.lowercase_keys, had.lowercaseKeys),
      },
      clock.wall(),
    ),
  )
  if (!row) throw unknownEnvironment()
  const environment = environmentRecord(row)
  keys.putEnvironment(environment)
  return { data: environmentView(environment) }
}

/** The names that a body wants, an absent kind as it was. source: CU-4, decision 26 */
function lowercaseKeysOf(
  wanted: EnvironmentUpdate['lowercase_keys'],
  had: LowercaseNames | null,
): LowercaseNames | null | undefined {
  if (wanted == null) return wanted
  const { company = had?.company, user = had?.user } = wanted
  const names = { company: company ?? [], user: user ?? [] }
  return names.company.length + names.user.length === 0 ? null : names
}

/**
 * DELETE /environments/{environment_id}, with its keys and data.
 *
 * errors  400 for the last environment, and for the environment of the calling key, which would delete itself (AL-6).
 * source  AL-13: companies in it do not prevent the deletion.
 */
export const removeEnvironment: Handler = async call => {
  const { services, key } = call
  const { id, accountId } = named(call)
  if (key.environmentId === id)
    throw new ServiceError('state_conflict', 'A key cannot delete the environment it belongs to')
  const deleted = await services.catalogs.change({ accountId, environmentId: null }, async tx => {
    if ((await countEnvironments(tx, accountId)) === 1)
      throw new ServiceError('state_conflict', 'The last environment cannot be deleted')
    return deleteEnvironment(tx, id)
  })
  services.keys.forgetEnvironment(id)
  if (!deleted) throw unknownEnvironment()
  void clearStores(services, id)
  return { data: { deleted: true } }
}

function clockView({ clock }: Services, environmentId: string): EnvironmentClock {
  const test = clock.testClock(environmentId)
  return {
    environment_id: environmentId,
    now: isoTime(clock.now(environmentId)),
    test_clock: test !== null,
    frozen: test?.kind === 'frozen',
    offset_seconds: test?.kind === 'ticking' ? test.offsetMs / 1000 : null,
  }
}

/** GET /environments/{environment_id}/clock (decision 10). */
export const getClock: Handler = call => ({ data: clockView(call.services, named(call).id) })

/**
 * PUT /environments/{environment_id}/clock (decisions 10, 11).
 *
 * errors  400 for production, for neither or both of `now` and `offset_seconds`, for an instant before the present.
 */
export const setClock: Handler<ClockUpdate> = async call => {
  const { services, body } = call
  const { clock } = services
  const environment = named(call)
  if (environment.environmentType === 'production')
    throw new ServiceError('state_conflict', 'A production environment has no test clock')
  const settled = testClockTarget(wishOf(body), clock.now(environment.id), clock.wall())
  if (settled === 'earlier')
    throw new ServiceError(
      'value_invalid',
      "earlier than the environment's present; remove its test clock to go back",
    )
  if (settled === 'too_late') throw new ServiceError('value_invalid', 'later than the year 9998')
  await clock.setTestClock(environment.id, settled, async tx => call.record?.(tx))
  return { data: clockView(services, environment.id) }
}

function wishOf(body: ClockUpdate): ClockWish {
  const frozen = body.frozen === true
  if ((body.now == null) === (body.offset_seconds == null))
    throw new ServiceError('value_invalid', 'exactly one of now and offset_seconds is needed')
  return body.now == null
    ? { offsetMs: Math.round(body.offset_seconds! * 1000), frozen }
    : { atMs: requireTime(body.now, 'now'), frozen }
}

/** DELETE /environments/{environment_id}/clock: returns to the wall clock (decision 10). */
export const removeClock: Handler = async call => {
  const { clock } = call.services
  const { id } = named(call)
  if (!clock.testClock(id)) throw new ServiceError('not_found', 'The environment has no test clock')
  await clock.setTestClock(id, null, async tx => call.record?.(tx))
  return { data: { deleted: true } }
}
