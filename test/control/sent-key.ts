// One key as it stands in a body.
import type { Sent, SentKey } from '../../src/entities/directory/key-lookup-cache.js'

/** A body with this key in it, after `before` bytes of something else. */
export function sentKey(name: string, value: string, before = 0): { body: Sent; key: SentKey } {
  const bytes = Buffer.from(`${' '.repeat(before)}{"${name}":"${value}"}`)
  const nameAt = before + 2
  const nameEnd = nameAt + Buffer.byteLength(name)
  const valueAt = nameEnd + 3
  const key = { at: before, end: bytes.length, nameAt, nameEnd, valueAt, valueEnd: bytes.length - 2 }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  return { body: { view, text: bytes.toString('latin1') }, key }
}
