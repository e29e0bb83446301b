// `tollgate keys` and `tollgate limits`.
import { parseLimits } from '../config.js'
import type { Client } from './client.js'
import { type Exit, exit, Failure, type Io } from './io.js'

interface Key {
  readonly id: string
  readonly name: string
  readonly environment_id: string | null
  readonly scopes: readonly string[]
  readonly last_used_at: string | null
  readonly secret?: string
}

const pageSize = 250

/** One line per key: id, environment, scopes, last use, name. */
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
