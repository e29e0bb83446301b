// API keys: who may ask. And whoami: who is asking.
import type { Sql } from 'postgres'
import type { ApiKeyScope } from '../../../schemas/enums.js'
import type { ApiKey, ApiKeyCreate, ApiKeyUpdate, WhoAmI } from '../../../schemas/keys.js'
import { insertPublishableKey } from '../../engine/bootstrap.js'
import { newId } from '../../engine/ids.js'
import { keyRecord, newKeyValue } from '../../engine/keys.js'
import { ServiceError } from '../../errors.js'
import type { Answer, Call, Handler } from '../call.js'
import { type ApiKeyRow, apiKeyView, environmentView } from '../key-view.js'
import { boolean, page, type QueryOf, query, required, string } from '../query.js'
import {
  accountName,
  countKeys,
  deleteKey,
  findKey,
  insertKey,
  type KeyFilter,
  listKeys,
  updateKey,
} from './store.js'

const keyFilter = { environment_id: string, require_environment: required(boolean) } as const
export const keyListQuery = query({ ...keyFilter, ...page })
type KeyListQuery = QueryOf<typeof keyFilter & typeof page>

function filterOf({ key, query }: Call<undefined, KeyListQuery>): KeyFilter {
  return {
    accountId: key.accountId,
    environmentId: query.environment_id,
    requireEnvironment: query.require_environment,
  }
}

function unknownKey(): ServiceError {
  return new ServiceError('not_found', 'API key not found')
}

/** GET /api-keys. source: AL-12, decision 13 */
export const listApiKeys: Handler<undefined, KeyListQuery> = async call => {
  const rows = await listKeys(call.services.sql, filterOf(call), call.query)
  return { data: rows.map(row => apiKeyView(row, call.services.keys)) }
}

/** GET /api-keys/count. */
export const countApiKeys: Handler<undefined, KeyListQuery> = async call => ({
  data: { count: await countKeys(call.services.sql, filterOf(call)) },
})

/**
 * POST /api-keys: a secret key, its value shown this once.
 *
 * errors  404 for an environment the account does not have.
 * source  AL-2, AL-5, AL-45; decision 14
 */
export const createApiKey: Handler<ApiKeyCreate> = async call => {
  const { body, key } = call
  const { keys, sql, clock } = call.services
  const environment = body.environment_id == null ? null : keys.environment(body.environment_id)
  if (body.environment_id != null && environment?.accountId !== key.accountId)
    throw new ServiceError('not_found', 'environment_id: no such environment')
  const secret = newKeyValue('secret', environment?.environmentType ?? null)
  const row = await keys.inOrder(async () => {
    const inserted = await insertKey(sql, {
      id: newId('apik_'),
      accountId: key.accountId,
      environmentId: environment?.id ?? null,
      name: body.name,
      description: body.description ?? null,
      scopes: scopesOf(environment === null, body.readonly === true),
      readonly: body.readonly === true,
      rateLimitPercent: body.rate_limit_percent || null,
      hash: keys.hash(secret),
      nowMs: clock.wall(),
    })
    keys.put(keyRecord(inserted), inserted.secret_hash)
    return inserted
  })
  return { status: 201, data: { ...apiKeyView(row, keys), secret } satisfies ApiKey }
}

/** AL-5. */
function scopesOf(accountWide: boolean, readonly: boolean): readonly ApiKeyScope[] {
  if (readonly) return ['read']
  return accountWide ? ['admin', 'capture', 'read', 'write'] : ['capture', 'read', 'write']
}

/** GET /api-keys/{api_key_id}. */
export const getApiKey: Handler = async ({ services, key, params }) => {
  const row = await findKey(services.sql, key.accountId, params.api_key_id!)
  if (!row) throw unknownKey()
  return { data: apiKeyView(row, services.keys) }
}

/** PUT /api-keys/{api_key_id}. source: AL-3, AL-45 */
export const updateApiKey: Handler<ApiKeyUpdate> = async ({ services, key, params, body }) => {
  const { keys, sql, clock } = services
  const percent = body.rate_limit_percent
  const change = {
    name: body.name ?? undefined,
    description: body.description,
    rateLimitPercent: percent == null ? undefined : percent || null,
  }
  const row = await keys.inOrder(async () => {
    const updated = await updateKey(sql, key.accountId, params.api_key_id!, change, clock.wall())
    if (updated) keys.put(keyRecord(updated), null)
    return updated
  })
  if (!row) throw unknownKey()
  return { data: apiKeyView(row, keys) }
}

/**
 * DELETE /api-keys/{api_key_id}: at once. A publishable key is replaced by a fresh one, because every environment has
 * one and nothing else makes them: this is how it is rotated.
 *
 * errors  400 for the key that asks (AL-6); 404 for one that is not, or no longer, there (AL-34).
 * source  AL-3, AL-5, AL-6, AL-34; the replacement: decision
 */
export const deleteApiKey: Handler = async ({ services, key, params }): Promise<Answer> => {
  const { keys, sql } = services
  const id = params.api_key_id!
  if (id === key.id) throw new ServiceError('state_conflict', 'A key cannot delete itself')
  const gone = await keys.inOrder(async () => {
    const { row, replacement } = await sql.begin(async transaction => {
      const tx = transaction as unknown as Sql
      const deleted = await deleteKey(tx, key.accountId, id)
      return {
        row: deleted,
        replacement: deleted?.kind === 'publishable' ? await replace(tx, deleted) : null,
      }
    })
    if (row) keys.forget(row.id)
    if (replacement) keys.put(keyRecord(replacement), replacement.secret_hash)
    return row
  })
  if (!gone) throw unknownKey()
  return { data: { deleted: true } }

  async function replace(tx: Sql, row: ApiKeyRow): Promise<ApiKeyRow | null> {
    const environment = keys.environment(row.environment_id!)
    if (!environment) return null
    const made = await insertPublishableKey(tx, value => keys.hash(value), {
      accountId: key.accountId,
      environmentId: environment.id,
      type: environment.environmentType,
      nowMs: services.clock.wall(),
    })
    return findKey(tx, key.accountId, made)
  }
}

/** GET /whoami. source: api/api-keys-environments.md; onboarding is always complete: decision */
export const whoAmI: Handler = async ({ services, key }) => ({
  data: {
    account_id: key.accountId,
    account_name: await accountName(services.sql, key.accountId),
    actor_type: 'api_key',
    api_key_id: key.id,
    environment_id: key.environmentId,
    environments: services.keys.environments(key.accountId).map(environmentView),
    onboarding_complete: true,
  } satisfies WhoAmI,
})
