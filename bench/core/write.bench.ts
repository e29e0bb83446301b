// Time of one durable write of the journal: where it extends its file, and over existing bytes; on an idle machine,
// and beside a busy loop on each core.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { nodeDisk } from '../../src/journal/disk.js'
import { cores } from '../cpu.js'
import { root } from '../record.js'

/** Written to each file in all, and the sizes of one write. */
const fileBytes = 100 << 20
const sizes = [400 << 10, 800 << 10, 1_250 << 10]
const rounds = 3
const directory = join(root, 'data', `bench-write-${process.pid}`)
mkdirSync(directory, { recursive: true })

/** Milliseconds of each write of this size, one after the other. */
async function timed(size: number, over: boolean): Promise<number[]> {
  const path = join(directory, 'file')
  const file = await nodeDisk.open(path, 'new')
  try {
    if (over) await file.write(Buffer.alloc(0), 0, fileBytes)
    const bytes = Buffer.alloc(size, 7)
    const took: number[] = []
    for (let at = 0; at + size <= fileBytes; at += size) {
      const beganMs = performance.now()
      await file.write(bytes, at, 0)
      took.push(performance.now() - beganMs)
    }
    return took
  } finally {
    await file.close()
    await nodeDisk.remove(path)
  }
}

function told(took: readonly number[]): string {
  const sorted = [...took].sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor(share * sorted.length)]!.toFixed(2)
  return `${at(0.5)} / ${at(0.9)}`
}

async function measure(machine: string): Promise<void> {
  for (const size of sizes) {
    const longer: number[] = []
    const over: number[] = []
    for (let round = 0; round < rounds; round++) {
      longer.push(...(await timed(size, false)))
      over.push(...(await timed(size, true)))
    }
    console.log(
      `${machine}, ${size >> 10} KiB: longer file ${told(longer)} ms, over what is there ${told(over)} ms (median / 9 of 10)`,
    )
  }
}

try {
  await measure('idle')
  const busy = Array.from({ length: cores }, () => new Worker('for (;;);', { eval: true }))
  await measure('busy').finally(() => Promise.all(busy.map(one => one.terminate())))
} finally {
  rmSync(directory, { recursive: true, force: true })
}
