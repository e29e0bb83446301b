// API keys: their scopes, periods of validity and addresses. Also whoami.
import type { Sql } from 'postgres'
import type { KeyScope } from '../../../schemas/enums.js'
import type { ApiKey, ApiKeyCreate, ApiKeyRoll, ApiKeyUpdate, WhoAmI } from '../../../schemas/keys.js'
import { isAddressBlock } from '../../account/address-blocks.js'
import { insertPublishableKey } from '../../account/bootstrap.js'
import { keyFault, reaches } from '../../account/conditions.js'
import { newId } from '../../account/ids.js'
import { lastFour, newKeyValue } from '../../account/key-value.js'
import { formerValue, keyRecord } from '../../account/keys.js'
import { roleIn } from '../../core/console-role.js'
import { ServiceError } from '../../errors.js'
import type { Answer, Call, EnvironmentRecord, Handler, KeyRecord } from '../../kit/call.js'
import { boolean, page, type QueryOf, query, required, string } from '../../kit/query.js'
import type { Services } from '../../kit/services.js'
import { inTransaction } from '../../kit/sql.js'
import { isoTimeOrNull, requireTime } from '../../kit/time.js'
import { whole } from '../../kit/unchanged.js'
import { inherited, mustStayWithin } from './inherited.js'
import {
  accountName,
  countKeys,
  deleteKey,
  findKey,
  insertKey,
  type KeyConditionChange,
  type KeyFilter,
  listKeys,
  lockKey,
  rollKey,
  updateKey,
} from './store.js'
import { type ApiKeyRow, apiKeyView, environmentView } from './view.js'

const keyFilter = { environment_id: string, require_environment: required(boolean) } as const
export const keyListQuery = query({ ...keyFilter, ...page })
type KeyListQuery = QueryOf<typeof keyFilter & typeof page>

function filterOf({ key, query }: Call<undefined, KeyListQuery>): KeyFilter {
  return {
    accountId: key.accountId,
    environmentId: query.environment_id,
    reach: reaches(key, null) ? null : key.environmentId,
    requireEnvironment: query.require_environment,
  }
}

function unknownKey(): ServiceError {
  return new ServiceError('not_found', 'API key not found')
}

/**
 * Whether the calling key may see and change this key. The bootstrap key belongs to the account, not to its
 * environment.
 */
function mayActOn(key: KeyRecord, row: ApiKeyRow): boolean {
  return reaches(key, row.bootstrap ? null : row.environment_id)
}

/** GET /api-keys. source: AL-12, decision 13 */
export const listApiKeys: Handler<undefined, KeyListQuery> = async call => {
  const rows = await listKeys(call.services.sql, filterOf(call), call.query)
  return { data: rows.map(row => apiKeyView(row, call.services)) }
}

/** GET /api-keys/count. */
export const countApiKeys: Handler<undefined, KeyListQuery> = async call => ({
  data: { count: await countKeys(call.services.sql, filterOf(call)) },
})

/**
 * POST /api-keys: creates a secret key. Its value is shown only here.
 *
 * errors  403 for a key bound to an environment that asks for an account-wide key, and for conditions beyond those of
 *         the calling key, which a new key inherits; 404 for an environment that is
 *         unknown or out of the key's reach; 400 for invalid scopes, times and addresses.
 * source  AL-2, AL-5, AL-45; decision 14; chosen scopes, times, addresses: decision.
 */
export const createApiKey: Handler<ApiKeyCreate> = async call => {
  const { body, key, services } = call
  const { keys, sql, clock } = services
  const environment = environmentOf(call)
  const readonly = body.readonly === true
  const secret = newKeyValue('secret', environment?.environmentType ?? null)
  const nowMs = clock.wall()
  const wanted = {
    id: newId('apik_'),
    accountId: key.accountId,
    environmentId: environment?.id ?? null,
    name: body.name,
    description: body.description ?? null,
    scopes: scopesOf(environment === null, readonly, body.scopes ?? null),
    readonly,
    hash: keys.hash(secret),
    lastFour: lastFour(secret),
    pepperId: keys.pepperId,
    nowMs,
  }
  const asked = { ...conditionsOf(body, nowMs), rateLimitPercent: body.rate_limit_percent || null }
  const row = await keys.inOrder(async () => {
    const inserted = await inTransaction(sql, async tx => {
      const { rateLimitPercent, ...conditions } = inherited(await callingKey(tx, key), asked)
      const made = await insertKey(tx, { ...wanted, rateLimitPercent, conditions })
      mustBeInOrder(made)
      await call.record?.(tx)
      return made
    })
    keys.put(keyRecord(inserted), inserted.secret_hash)
    return inserted
  })
  return { status: 201, data: { ...apiKeyView(row, services), secret } satisfies ApiKey }
}

/** The row of the calling key; null for one without conditions that is deleted meanwhile. */
async function callingKey(tx: Sql, key: KeyRecord): Promise<ApiKeyRow | null> {
  const row = await findKey(tx, key.accountId, key.id)
  if (row === null && (key.conditions != null || key.rateLimitPercent !== null)) throw unknownKey()
  return row
}

function environmentOf({ body, key, services }: Call<ApiKeyCreate>): EnvironmentRecord | null {
  if (body.environment_id == null) {
    if (reaches(key, null)) return null
    throw new ServiceError('forbidden', 'This key makes keys of its own environment alone: name it')
  }
  const environment = services.keys.environment(body.environment_id)
  if (environment?.accountId !== key.accountId || !reaches(key, environment.id))
    throw new ServiceError('not_found', 'environment_id: no such environment')
  return environment
}

const readonlyScopes: readonly KeyScope[] = ['read', 'check']

/** The scopes in the body, else the default of the key type (AL-5). */
function scopesOf(
  accountWide: boolean,
  readonly: boolean,
  chosen: readonly KeyScope[] | null,
): readonly KeyScope[] {
  if (chosen !== null) {
    if (readonly && !chosen.every(scope => readonlyScopes.includes(scope)))
      throw new ServiceError('value_invalid', 'scopes: a read-only key has read, check or both')
    return [...chosen].sort()
  }
  if (readonly) return ['read']
  return accountWide ? ['admin', 'capture', 'read', 'write'] : ['capture', 'read', 'write']
}

/** The body's period of validity and addresses; absent members stay undefined. */
function conditionsOf(body: ApiKeyCreate | ApiKeyUpdate, nowMs: number): KeyConditionChange {
  const { not_before, expires_at, allowed_addresses } = body
  const notBeforeMs = not_before == null ? not_before : requireTime(not_before, 'not_before')
  const expiresAtMs = expires_at == null ? expires_at : requireTime(expires_at, 'expires_at')
  if (expiresAtMs != null && expiresAtMs <= nowMs)
    throw new ServiceError('value_invalid', 'expires_at: must lie in the future; disable a key to end it now')
  for (const block of allowed_addresses ?? [])
    if (!isAddressBlock(block))
      throw new ServiceError(
        'value_invalid',
        'allowed_addresses: expected addresses or blocks as 203.0.113.0/24 or 2001:db8::/32',
      )
  return { notBeforeMs, expiresAtMs, allowedAddresses: allowed_addresses }
}

/** GET /api-keys/{api_key_id}. */
export const getApiKey: Handler = async ({ services, key, params }) => {
  const row = await findKey(services.sql, key.accountId, params.api_key_id!)
  if (!row || !mayActOn(key, row)) throw unknownKey()
  return { data: apiKeyView(row, services) }
}

/**
 * PUT /api-keys/{api_key_id}.
 *
 * errors  400 for a change that would lock out the calling key itself; 403 for a key with wider conditions than the
 *         calling key has, before or after.
 * source  AL-3, AL-45; scopes and `readonly` never change: decision.
 */
export const updateApiKey: Handler<ApiKeyUpdate> = async call => {
  const { services, key, params, body } = call
  const { keys, sql, clock } = services
  const nowMs = clock.wall()
  const row = await keys.inOrder(async () => {
    const updated = await inTransaction(sql, async tx => {
      const present = await lockKey(tx, key.accountId, params.api_key_id!)
      if (!present || !mayActOn(key, present)) throw unknownKey()
      const { name, description, rate_limit_percent: percent, disabled } = present
      const said = whole(body, { name, description, rate_limit_percent: percent, disabled })
      const change = {
        name: said.name ?? name,
        description: said.description,
        // null leaves the cap unchanged, 0 removes it
        rateLimitPercent: (said.rate_limit_percent ?? percent) || null,
        disabled: said.disabled ?? disabled,
        ...conditionsOf(body, nowMs),
      }
      const caller = await callingKey(tx, key)
      mustStayWithin(caller, present)
      const changed = await updateKey(tx, present.id, change, nowMs)
      mustBeInOrder(changed)
      mustStayWithin(caller, changed)
      if (changed.id === key.id) mustStayOpen(changed, call, nowMs)
      await call.record?.(tx)
      return changed
    })
    keys.put(keyRecord(updated), null)
    return updated
  })
  return { data: apiKeyView(row, services) }
}

function mustBeInOrder({ not_before, expires_at }: ApiKeyRow): void {
  if (not_before !== null && expires_at !== null && not_before >= expires_at)
    throw new ServiceError('value_invalid', 'not_before: must lie before expires_at')
}

function mustStayOpen(row: ApiKeyRow, call: Call<ApiKeyUpdate>, nowMs: number): void {
  const { conditions } = keyRecord(row)
  if (conditions != null && keyFault(conditions, nowMs, () => call.remoteIp) !== null)
    throw new ServiceError('state_conflict', 'A key cannot shut itself out')
}

/**
 * POST /api-keys/{api_key_id}/roll: creates a new value, shown only here. The present value is accepted until the
 * overlap ends; a value replaced by an earlier roll is not.
 *
 * source  decision.
 */
export const rollApiKey: Handler<ApiKeyRoll> = async call => {
  const { services, key, params, body } = call
  const { keys, sql, clock } = services
  const { row, secret } = await keys.inOrder(async () => {
    const rolled = await inTransaction(sql, async tx => {
      const present = await lockKey(tx, key.accountId, params.api_key_id!)
      if (!present || !mayActOn(key, present)) throw unknownKey()
      mustStayWithin(await callingKey(tx, key), present)
      const environment = present.environment_id === null ? null : keys.environment(present.environment_id)
      const value = newKeyValue(present.kind, environment?.environmentType ?? null)
      const nowMs = clock.wall()
      const changed = await rollKey(tx, present, {
        hash: keys.hash(value),
        lastFour: lastFour(value),
        pepperId: keys.pepperId,
        publishableValue: present.kind === 'publishable' ? value : null,
        untilMs: body.overlap_seconds ? nowMs + body.overlap_seconds * 1_000 : null,
        nowMs,
      })
      await call.record?.(tx)
      return { row: changed, secret: value }
    })
    keys.put(keyRecord(rolled.row), rolled.row.secret_hash, formerValue(rolled.row))
    return rolled
  })
  return { data: { ...apiKeyView(row, services), secret } satisfies ApiKey }
}

/**
 * DELETE /api-keys/{api_key_id}, effective at once. A publishable key is replaced by a new one, because every
 * environment has exactly one. To give clients time to change, roll the key instead.
 *
 * errors  400 for the calling key itself (AL-6); 404 for an unknown or deleted key (AL-34).
 * source  AL-3, AL-5, AL-6, AL-34; the replacement: decision.
 */
export const deleteApiKey: Handler = async (call): Promise<Answer> => {
  const { services, key, params } = call
  const { keys, sql } = services
  const id = params.api_key_id!
  if (id === key.id) throw new ServiceError('state_conflict', 'A key cannot delete itself')
  const name = await keys.inOrder(async () => {
    const { present, replacement } = await inTransaction(sql, async tx => {
      const present = await lockKey(tx, key.accountId, id)
      if (!present || !mayActOn(key, present)) throw unknownKey()
      await deleteKey(tx, id)
      const replacement = present.kind === 'publishable' ? await replaced(services, tx, present) : null
      await call.record?.(tx)
      return { present, replacement }
    })
    keys.forget(id)
    if (replacement) keys.put(keyRecord(replacement), replacement.secret_hash)
    return present.name
  })
  return { data: { deleted: true }, noted: { deleted: true, name } }
}

async function replaced({ keys, clock }: Services, tx: Sql, row: ApiKeyRow): Promise<ApiKeyRow | null> {
  const environment = keys.environment(row.environment_id!)
  if (!environment) return null
  const made = await insertPublishableKey(tx, keys, {
    accountId: row.account_id,
    environmentId: environment.id,
    type: environment.environmentType,
    nowMs: clock.wall(),
  })
  return findKey(tx, row.account_id, made)
}

/**
 * GET /whoami. Account-wide keys and the bootstrap key see every environment, other keys their own, people those in which
 * they have a role.
 *
 * source  interface document; onboarding is always complete: decision.
 */
export const whoAmI: Handler = async ({ services, key }) => ({
  data: {
    account_id: key.accountId,
    account_name: await accountName(services.sql, key.accountId),
    actor_type: key.actor?.type ?? 'api_key',
    api_key_id: key.actor ? null : key.id,
    account_member:
      key.actor?.type === 'app_user'
        ? { id: key.actor.id, name: key.actor.name, console_roles: key.actor.roles }
        : null,
    name: key.name,
    scopes: key.scopes,
    readonly: key.readonly,
    expires_at: isoTimeOrNull(key.conditions?.expiresAtMs ?? null),
    environment_id: key.environmentId,
    environments: services.keys
      .environments(key.accountId)
      .filter(({ id }) => (key.actor ? roleIn(key.actor.roles, id) !== null : reaches(key, id)))
      .map(environmentView),
    onboarding_complete: true,
  } satisfies WhoAmI,
})
