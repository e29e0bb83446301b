// A WebSocket for Node before 22, which has none of its own. Loaded there alone; pages never load it.
import { WebSocket } from 'ws'
import type { SocketLike } from './stream.js'

export function openNodeSocket(url: string, protocols: string[]): SocketLike {
  return new WebSocket(url, protocols) as unknown as SocketLike
}
