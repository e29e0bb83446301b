// `tollgate keys` and `tollgate limits`.
import { parseLimits } from '../config.js'
import type { Client } from './client.js'
import { type Exit, exit, Failure, type Io } from './io.js'

interface Key {
  readonly id: string
  readonly name: string
  readonly environment_id: string | null
  readonly environment?: { readonly name: string }
  readonly scopes: readonly string[]
  readonly last_used_at: string | null
  readonly secret?: string
}

const pageSize = 250

/** One line per key: id, environment, scopes, last use, name, and the value of a publishable one. */
export async function listKeys(client: Client, io: Io): Promise<Exit> {
  for (let offset = 0; ; offset += pageSize) {
    const page = `limit=${pageSize}&offset=${offset}`
    const keys = await client.ask<Key[]>('GET', `/api-keys?require_environment=false&${page}`)
    for (const key of keys)
      io.print(
        [
          key.id,
          key.environment_id ?? 'account',
          key.scopes.join('+'),
          key.last_used_at ?? 'never',
          key.name,
          // shown for publishable keys only, which are no secret (decision 13)
          ...(key.secret === undefined ? [] : [key.secret]),
        ].join('  '),
      )
    if (keys.length < pageSize) return exit.done
  }
}

/** Create a key and print only its value, for use in scripts. */
export async function createKey(
  client: Client,
  options: { readonly name: string; readonly environment?: string; readonly readonly?: boolean },
  io: Io,
): Promise<Exit> {
  const key = await client.ask<Key>('POST', '/api-keys', {
    name: options.name,
    environment_id: options.environment ?? null,
    readonly: options.readonly ?? false,
  })
  io.note(`${key.id} (${key.scopes.join(', ')}); its value is shown this once:`)
  io.print(key.secret!)
  return exit.done
}

/**
 * Print the value of an environment's publishable key. Each environment is made with one and has exactly one.
 *
 * environment  its id; may be absent if the calling key sees only one.
 * errors       Failure that names the environments if there are several, or for an unknown one.
 * source       decision 13, S1.
 */
export async function showPublishable(
  client: Client,
  environment: string | undefined,
  io: Io,
): Promise<Exit> {
  const found: Key[] = []
  for (let offset = 0; ; offset += pageSize) {
    const page = `limit=${pageSize}&offset=${offset}`
    const keys = await client.ask<Key[]>('GET', `/api-keys?require_environment=true&${page}`)
    found.push(...keys.filter(({ secret }) => secret !== undefined))
    if (keys.length < pageSize) break
  }
  const fitting = found.filter(key => environment === undefined || key.environment_id === environment)
  const [key, other] = fitting
  if (key === undefined || other !== undefined) {
    const names = found.map(one => `${one.environment_id} (${one.environment?.name ?? one.name})`)
    throw new Failure(`name the environment with --in: ${names.join(', ') || 'this key sees none'}`)
  }
  io.note(`${key.id}, of ${key.environment_id}; \`tollgate keys roll ${key.id}\` gives it a new value:`)
  io.print(key.secret!)
  return exit.done
}

/** Give a key a new value and print it. The present one is accepted for `overlapSeconds` more. */
export async function rollKey(client: Client, id: string, overlapSeconds: number, io: Io): Promise<Exit> {
  const key = await client.ask<Key>('POST', `/api-keys/${encodeURIComponent(id)}/roll`, {
    overlap_seconds: overlapSeconds,
  })
  io.note(
    overlapSeconds === 0
      ? `${id} has a new value; the former one is refused from now on`
      : `${id} has a new value; the former one is accepted for ${overlapSeconds} seconds more`,
  )
  io.print(key.secret!)
  return exit.done
}

/** Delete a key. It is refused from the next request on. */
export async function revokeKey(client: Client, id: string, io: Io): Promise<Exit> {
  await client.ask('DELETE', `/api-keys/${encodeURIComponent(id)}`)
  io.print(`${id} is revoked`)
  return exit.done
}

interface Limits {
  readonly account_id: string
  readonly limits: unknown
}

/** Print the account's own limits. */
export async function getLimits(client: Client, io: Io): Promise<Exit> {
  const { account_id, limits } = await client.ask<Limits>('GET', '/limits')
  io.print(`${account_id}  ${limits === null ? 'default' : JSON.stringify(limits)}`)
  return exit.done
}

/** Set limits: `default`, `off`, or buckets as JSON. */
export async function setLimits(client: Client, value: string, io: Io): Promise<Exit> {
  const plain = value === 'default' || value === 'off'
  if (!plain && parseLimits(value) === null)
    throw new Failure('expected default, off, or {"global":[rate per second, burst], "mutation":…}')
  const limits = value === 'default' ? null : value === 'off' ? 'off' : (JSON.parse(value) as object)
  await client.ask('PUT', '/limits', { limits })
  return getLimits(client, io)
}
