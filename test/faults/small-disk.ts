// A small disk of its own under a path, where the machine allows it: one that can be filled up and cleared.
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { temporaryDirectory } from '../stores.js'

export class SmallDisk {
  private readonly ballast: string

  private constructor(
    path: string,
    private readonly bytes: number,
  ) {
    this.ballast = join(path, 'ballast')
  }

  /** Why there is none to be had on this machine; null when there is. */
  static async missing(): Promise<string | null> {
    const path = await temporaryDirectory(t)
    const reason = mount(path, 1 << 20)
    if (reason === null) execFileSync('umount', [path])
    return reason
  }

  /** Mount one for the time of a test. */
  static mount(t: Test, path: string, bytes: number): SmallDisk {
    const reason = mount(path, bytes)
    if (reason !== null) throw new Error(reason)
    t.teardown(() => execFileSync('umount', ['-l', path]))
    return new SmallDisk(path, bytes)
  }

  /** Leave no room for anything. */
  fillUp(): void {
    for (let size = this.bytes; size >= 4_096; size >>= 1)
      try {
        for (;;) writeFileSync(this.ballast, Buffer.alloc(size), { flag: 'a' })
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
  }

  /** Give the room back. */
  clear(): void {
    rmSync(this.ballast)
  }
}

function mount(path: string, bytes: number): string | null {
  mkdirSync(path, { recursive: true })
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', path], { stdio: 'pipe' })
    return null
  } catch (error) {
    return `no small disk to be had: ${String((error as { stderr?: Buffer }).stderr ?? error).trim()}`
  }
}
