// A disk in memory that forgets, tears and fails on command: the JournalDisk of simulations.
import type { JournalDisk, JournalFile } from '../../src/journal/disk.js'

/** Faults of the next operations. Each is used once. */
export type Fault =
  | { readonly on: 'write'; readonly kept: 'none' | 'all' | number }
  | { readonly on: 'open' | 'truncate' | 'sync' | 'remove' }

export class MemoryDisk implements JournalDisk {
  readonly files = new Map<string, Buffer>()
  readonly faults: Fault[] = []
  /** Set: writes wait for this promise, so a test can look while one is under way. */
  hold: Promise<void> | null = null
  writes = 0
  /** Bytes of zeros asked for behind what was written. */
  zeros = 0

  async open(path: string, how: 'read' | 'write' | 'new'): Promise<JournalFile> {
    this.#fail('open')
    if (how === 'new') {
      if (this.files.has(path)) throw new Error(`${path} exists`)
      this.files.set(path, Buffer.alloc(0))
    }
    if (!this.files.has(path)) throw new Error(`${path} is missing`)
    return {
      write: (bytes, position, zeros) => this.#write(path, bytes, position, zeros),
      read: async (into, length, position) => this.#file(path).copy(into, 0, position, position + length),
      truncate: async length => {
        this.#fail('truncate')
        this.#resize(path, length)
      },
      size: async () => this.#file(path).length,
      close: async () => {},
    }
  }

  async list(directory: string): Promise<string[]> {
    const prefix = `${directory}/`
    return [...this.files.keys()]
      .filter(path => path.startsWith(prefix))
      .map(path => path.slice(prefix.length))
  }

  async remove(path: string): Promise<void> {
    this.#fail('remove')
    this.files.delete(path)
  }

  async rename(from: string, to: string): Promise<void> {
    this.files.set(to, this.#file(from))
    this.files.delete(from)
  }

  async syncDirectory(): Promise<void> {
    this.#fail('sync')
  }

  async #write(path: string, bytes: Buffer, position: number, zeros: number): Promise<void> {
    this.writes++
    if (bytes.length > 0) this.zeros += zeros
    const copy = Buffer.concat([bytes, Buffer.alloc(zeros)])
    if (this.hold !== null) await this.hold
    const fault = this.#fault('write')
    if (fault === undefined) return this.#put(path, copy, position)
    const kept = fault.on === 'write' ? fault.kept : 'none'
    if (kept !== 'none') this.#put(path, kept === 'all' ? copy : copy.subarray(0, kept), position)
    throw new Error('the disk failed')
  }

  #put(path: string, bytes: Buffer, position: number): void {
    if (position + bytes.length > this.#file(path).length) this.#resize(path, position + bytes.length)
    bytes.copy(this.#file(path), position)
  }

  #resize(path: string, length: number): void {
    const next = Buffer.alloc(length)
    this.#file(path).copy(next)
    this.files.set(path, next)
  }

  #file(path: string): Buffer {
    const file = this.files.get(path)
    if (file === undefined) throw new Error(`${path} is missing`)
    return file
  }

  #fail(on: Fault['on']): void {
    if (this.#fault(on) !== undefined) throw new Error('the disk failed')
  }

  #fault(on: Fault['on']): Fault | undefined {
    const index = this.faults.findIndex(fault => fault.on === on)
    return index < 0 ? undefined : this.faults.splice(index, 1)[0]
  }
}
