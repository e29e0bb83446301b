// Clients of the package under clients/typescript, as tests open them.
import type { Test } from 'tap'
import { WebSocket } from 'ws'
import {
  type Change,
  type ClientOptions,
  type SocketLike,
  Tollgate,
} from '../../clients/typescript/src/index.js'
import { bootstrapKey, type Client } from '../harness.js'

/** Node before 22 has no WebSocket of its own. */
export const webSocket = (url: string, protocols: string[]): SocketLike =>
  new WebSocket(url, protocols) as unknown as SocketLike

/** A client of this Tollgate; closed with the test. */
export function clientOf(t: Test, { url, key }: Client, more: Partial<ClientOptions> = {}): Tollgate {
  const tollgate = new Tollgate({ url, key: key || bootstrapKey, local: true, webSocket, ...more })
  t.teardown(() => tollgate.close(0))
  return tollgate
}

/** Resolves with the first change that is meant, from now on. */
export function changeOf(tollgate: Tollgate, wanted: (change: Change) => boolean): Promise<Change> {
  return new Promise(resolve => {
    const stop = tollgate.onChange(change => {
      if (!wanted(change)) return
      stop()
      resolve(change)
    })
  })
}

/** Resolves when something holds, looked at whenever the client hears of a change. */
export async function until(tollgate: Tollgate, holds: () => boolean): Promise<void> {
  while (!holds()) await changeOf(tollgate, () => true)
}

/** The publishable key of the environment that this client's key is bound to. */
export async function publishableKey(client: Client): Promise<string> {
  const { environment_id: id } = await client.ok('GET', '/whoami')
  const listed = await client.ok('GET', `/api-keys?limit=250&require_environment=true&environment_id=${id}`)
  return listed.find((key: { secret?: string }) => key.secret?.startsWith('pk_')).secret
}
