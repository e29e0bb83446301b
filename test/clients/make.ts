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

/** The way of a client's messages, which a test holds back: what is told arrives, and is heard when it is let go. */
export class HeldWire {
  /** Types of the messages that are held back. */
  readonly held: string[] = []
  private pending: (() => void)[] = []
  private holds = false
  private socket: SocketLike | null = null
  private arrived: (() => void) | null = null

  readonly open = (url: string, protocols: string[]): SocketLike => {
    const socket = webSocket(url, protocols)
    this.socket = socket
    const wire = this
    const { proxy } = Proxy.revocable(socket as unknown as object, {
      set(target, name, value) {
        const heard =
          name === 'onmessage' ? (event: { readonly data: unknown }) => wire.take(event, value) : value
        return Reflect.set(target, name, heard)
      },
      get(target, name) {
        const member = Reflect.get(target, name)
        return typeof member === 'function' ? member.bind(target) : member
      },
    })
    return proxy as SocketLike
  }

  /** From now on nothing is heard. */
  hold(): void {
    this.holds = true
  }

  /** Everything held back is heard, and what comes from now on. */
  letGo(): void {
    this.holds = false
    for (const hear of this.pending.splice(0)) hear()
    this.held.length = 0
  }

  /** Resolves when a message of this type is held back. */
  async holding(type: string): Promise<void> {
    while (!this.held.includes(type))
      await new Promise<void>(resolve => {
        this.arrived = resolve
      })
  }

  /** The connection ends; the client opens another. */
  end(): void {
    this.socket?.close(4000)
  }

  private take(event: { readonly data: unknown }, hear: (event: object) => void): void {
    if (!this.holds) return hear(event)
    this.held.push((JSON.parse(String(event.data)) as { readonly message_type: string }).message_type)
    this.pending.push(() => hear(event))
    this.arrived?.()
  }
}

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
