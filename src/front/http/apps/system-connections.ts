// The connections to a port as Linux lists them. The native server does not tell whose connection has closed.
import { readFile } from 'node:fs/promises'
import { networkOf } from '../admission/network-of.js'

/** States of connections that hold a file handle here: established, and closed by the peer alone. */
const held: ReadonlySet<string> = new Set(['01', '08'])

/** Connections to a port of this machine, by network; null where the system has no such list. source: proc(5), `/proc/net/tcp`. */
export async function systemConnections(port: number): Promise<ReadonlyMap<string, number> | null> {
  const lists = await Promise.all(
    ['/proc/net/tcp', '/proc/net/tcp6'].map(path => readFile(path, 'latin1').catch(() => '')),
  )
  return lists[0] === '' ? null : countOf(lists.join(''), port)
}

/** Connections to a port by network, of the text of such lists. */
export function countOf(lists: string, port: number): ReadonlyMap<string, number> {
  const ending = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const byPeer = new Map<string, number>()
  for (const line of lists.split('\n')) {
    const [, local, remote, state] = line.trimStart().split(' ', 4)
    if (local === undefined || remote === undefined || !local.endsWith(ending) || !held.has(state!)) continue
    const peer = remote.slice(0, remote.indexOf(':'))
    byPeer.set(peer, (byPeer.get(peer) ?? 0) + 1)
  }
  const counts = new Map<string, number>()
  for (const [peer, count] of byPeer) {
    const network = networkOf(addressOf(peer))
    counts.set(network, (counts.get(network) ?? 0) + count)
  }
  return counts
}

/** An address of such a list: words of four bytes, each with its last byte first. */
function addressOf(hex: string): string {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap(word => word.match(/../g)!.reverse())
  const isMapped =
    bytes.length === 16 && bytes.slice(0, 12).join('') === `${'00'.repeat(10)}ffff`.toUpperCase()
  if (bytes.length === 4 || isMapped)
    return bytes
      .slice(-4)
      .map(byte => Number.parseInt(byte, 16))
      .join('.')
  return (bytes.join('').match(/.{4}/g) ?? []).join(':').toLowerCase()
}
