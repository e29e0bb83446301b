// Long answers of reads, compressed for callers who take gzip. A thread of the pool does it, a few at a time; while too many
// wait, answers leave as they are.
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { FairGate } from '../../../turns/fair-gate.js'
import type { Route } from '../routing/route.js'
import { bytesOf, type Reply, replyLength } from './respond.js'

/** Answers of fewer bytes are not compressed: they cost more time than their bytes do in a network. */
const zippedBytesMin = 32_768

/** Four threads of the pool also write files. */
const zips = new FairGate({
  places: 2,
  perGroup: 1,
  waitingMax: 32,
  patienceMs: 2_000,
  name: 'compression',
})

const compress = promisify(gzip) as (bytes: Buffer, options: { level: number }) => Promise<Buffer>
/** Lists of companies shrink to a tenth; the highest level takes four times as long for a twelfth. */
const level = 4

/** The header that says so, on every answer of a route that may be compressed. */
export const varyLine = '\r\nVary: Accept-Encoding'

/**
 * Whether answers of a route may be compressed: reads, but no checks. Reads with a tag are left out, because a strong tag
 * belongs to one sequence of bytes.
 */
export function mayZip({ method, limit, tagged, ofrep }: Route): boolean {
  return method === 'get' && (limit === 'read' || limit === 'analytics') && !tagged && !ofrep
}

/** Whether a caller takes gzip. `header`: Accept-Encoding. source: RFC 9110, 12.5.3 */
export function takesGzip(header: string): boolean {
  if (header === '') return false
  let any = false
  for (const part of header.toLowerCase().split(',')) {
    const [coding, ...parameters] = part.split(';').map(one => one.trim())
    const refused = parameters.some(one => /^q=0(\.0*)?$/.test(one))
    if (coding === 'gzip' || coding === 'x-gzip') return !refused
    if (coding === '*') any = !refused
  }
  return any
}

/** Whether a reply is long enough. */
export const isLong = (reply: Reply): boolean => replyLength(reply) >= zippedBytesMin

/**
 * A reply with its body compressed, or as it is where too many wait.
 *
 * group  the environment of the request: environments take turns.
 */
export async function zipped(reply: Reply, group: string): Promise<Reply> {
  const plain = reply.bytes ? Buffer.from(reply.bytes) : bytesOf(reply.pieces ?? [reply.body])
  const noted = reply.noted ?? reply.body
  try {
    const bytes = await zips.run(group, () => compress(plain, { level }))
    return {
      status: reply.status,
      headers: `${reply.headers}\r\nContent-Encoding: gzip`,
      body: '',
      bytes,
      noted,
    }
  } catch {
    return { status: reply.status, headers: reply.headers, body: '', bytes: plain, noted }
  }
}
