// The time at which this data directory was last served, so that a clock set back between two starts takes no company
// back either.
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { ConfigError } from '../config.js'

const file = 'clock'
/** The time between two marks may repeat after a kill: windows of use allow for that much. */
const markMs = 10_000
/** Longest standstill of time; a clock further off is a mistake that an operator must look at. */
const standStillMsMax = 24 * 3_600_000

/**
 * The instant before which time may not begin.
 *
 * back     begin at the machine's clock however far behind it is (TOLLGATE_CLOCK_BACK).
 * returns  epoch ms; 0 when there is none.
 * errors   ConfigError when the machine's clock is more than a day behind it.
 * source   decision: between two starts as within one, up to a bound.
 */
export async function clockFloor(
  dataDir: string,
  machineMs: number,
  back: boolean,
  log: Pick<Logger, 'warn'>,
): Promise<number> {
  const markedMs = await readMark(dataDir)
  if (markedMs <= machineMs) return 0
  const times = { was: new Date(markedMs).toISOString(), machine: new Date(machineMs).toISOString() }
  if (back) {
    log.warn(times, 'time begins at the clock of the machine, which is behind')
    return 0
  }
  if (markedMs - machineMs > standStillMsMax)
    throw new ConfigError(
      `The clock of this machine says ${times.machine}, but it was ${times.was} when this data directory was last ` +
        'served. Set the clock right; if it was wrong then and is right now, start once with TOLLGATE_CLOCK_BACK=true.',
    )
  log.warn(times, 'the clock of the machine is behind: time stands still until it is reached')
  return markedMs
}

/** 0 without a mark, and when a power cut left half of one. */
async function readMark(dataDir: string): Promise<number> {
  const text = await readFile(join(dataDir, file), 'utf8').catch(error => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  const markedMs = /^\d{1,15}\n$/.test(text) ? Number(text) : 0
  return markedMs < 8.64e15 ? markedMs : 0
}

/** Writes down now and then, and at the end, where time is. */
export class ClockMark {
  private readonly timer: NodeJS.Timeout
  private writing: Promise<void> = Promise.resolve()

  constructor(
    private readonly dataDir: string,
    private readonly wall: () => number,
    private readonly log: Pick<Logger, 'warn'>,
  ) {
    this.write()
    this.timer = setInterval(() => this.write(), markMs)
    this.timer.unref()
  }

  async stop(): Promise<void> {
    clearInterval(this.timer)
    this.write()
    await this.writing
  }

  private write(): void {
    const path = join(this.dataDir, file)
    this.writing = this.writing
      .then(() => writeFile(`${path}.new`, `${this.wall()}\n`, { mode: 0o600 }))
      .then(() => rename(`${path}.new`, path))
      .catch(error => this.log.warn({ err: error }, 'the time could not be written down'))
  }
}
