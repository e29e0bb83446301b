// A snapshot as the column `state` keeps it: base64 of a mark and the snapshot in its packed form. The column is text, and
// the driver brings bytes as text of twice their length. Earlier versions wrote JSON, which begins with a brace.
import { PackedWriter } from '../../bytes/packed.js'
import { PackedReader } from '../../bytes/packed-reader.js'
import type { CompanySnapshot, UserSnapshot } from '../../core/model/descriptions.js'
import { shapes } from './shapes.js'

/** The first byte of a snapshot in its packed form: which version of it. */
const snapshotMark = 1
const brace = 0x7b
const bytesMin = 16 << 10

const writer = new PackedWriter(shapes)

/** A snapshot as text without line breaks. */
export function snapshotText(snapshot: CompanySnapshot | UserSnapshot): string {
  writer.byte(snapshotMark)
  writer.value(snapshot)
  return writer.take().toString('base64')
}

/** Reads many snapshots, one at a time. */
export class SnapshotReader {
  private readonly reader = new PackedReader(shapes)
  private bytes = Buffer.allocUnsafeSlow(bytesMin)

  /**
   * The company or user in the text that bytes [from, end) are.
   *
   * errors  SyntaxError when it is none.
   */
  read(kind: 'c', text: Buffer, from: number, end: number): CompanySnapshot
  read(kind: 'u', text: Buffer, from: number, end: number): UserSnapshot
  read(_: 'c' | 'u', text: Buffer, from: number, end: number): CompanySnapshot | UserSnapshot {
    if (text[from] === brace) return JSON.parse(text.toString('utf8', from, end))
    if (this.bytes.length < end - from) this.bytes = Buffer.allocUnsafeSlow(2 * (end - from))
    const { bytes } = this
    const length = bytes.write(text.toString('latin1', from, end), 'base64')
    if (length === 0 || bytes[0] !== snapshotMark) throw new SyntaxError('a snapshot of an unknown version')
    return this.reader.whole(bytes, 1, length) as CompanySnapshot | UserSnapshot
  }
}
