// Search of files for a text, in each form in which stores write it: UTF-8 and UTF-16, base64 at each of its three offsets,
// packed by gzip, and in the blocks of LZ4 and of Postgres's own packing. Blocks interrupt a text that is there for the
// first time with a byte at most every eight, so eight neighbouring bytes of the text are looked for.
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { gunzipSync } from 'node:zlib'

const together = 8

/** Looks for a text. It must have 16 bytes or more, no four of them twice, and nothing that JSON escapes. */
export class Traces {
  /** Needles by their first two bytes. */
  private readonly needles = new Map<number, Buffer[]>()
  private readonly begins = new Uint8Array(65_536)

  constructor(text: string) {
    if (Buffer.byteLength(text) < 2 * together) throw new Error('the text is too short')
    this.add(Buffer.from(text))
    this.add(Buffer.from(text, 'utf16le'))
    for (let offset = 0; offset < 3; offset++) {
      const encoded = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]).toString('base64')
      // characters at both ends hold bits of what lies around the text
      this.add(Buffer.from(encoded.slice(Math.ceil((offset * 8) / 6), -4)))
    }
  }

  /** Each run of neighbouring bytes. */
  private add(form: Buffer): void {
    for (let at = 0; at + together <= form.length; at++) {
      const needle = form.subarray(at, at + together)
      const begin = needle.readUInt16LE(0)
      this.begins[begin] = 1
      this.needles.set(begin, [...(this.needles.get(begin) ?? []), needle])
    }
  }

  /** The place of the text in bytes, or -1. */
  in(bytes: Buffer): number {
    for (let at = 0; at + together <= bytes.length; at++) {
      const begin = bytes[at]! | (bytes[at + 1]! << 8)
      if (this.begins[begin] === 0) continue
      for (const needle of this.needles.get(begin)!)
        if (bytes.compare(needle, 0, together, at, at + together) === 0) return at
    }
    return -1
  }

  /** Files below a directory that have the text, each with some bytes around it. A file that vanishes has none. */
  async inFiles(directory: string): Promise<string[]> {
    const found: string[] = []
    for (const file of await readdir(directory, { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue
      const path = join(file.parentPath, file.name)
      const read = await readFile(path).catch(() => Buffer.alloc(0))
      const bytes = read[0] === 0x1f && read[1] === 0x8b ? gunzipSync(read) : read
      const at = this.in(bytes)
      if (at >= 0) found.push(`${relative(directory, path)} at ${at}: ${printed(bytes, at)}`)
    }
    return found
  }
}

/** Bytes around a place, without those that do not print. */
const printed = (bytes: Buffer, at: number): string =>
  bytes.toString('latin1', Math.max(0, at - 300), at + 60).replaceAll(/[^ -~]+/g, '·')
