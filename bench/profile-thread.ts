// Loaded into every thread of a service that is profiled, before all else: samples its CPU from when a file `begin`
// is there until a file `end` is, and writes the profile beside them.
import { existsSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'

const everyUs = 200
const folder = process.env.BENCH_PROFILE_DIR

if (folder !== undefined) {
  const session = new Session()
  session.connect()
  let running = false
  const look = setInterval(() => {
    if (!running && existsSync(join(folder, 'begin'))) {
      running = true
      void begin()
    } else if (running && existsSync(join(folder, 'end'))) {
      clearInterval(look)
      void end(folder)
    }
  }, 50).unref()

  const begin = async () => {
    await session.post('Profiler.enable')
    await session.post('Profiler.setSamplingInterval', { interval: everyUs })
    await session.post('Profiler.start')
  }
  const end = async (into: string) => {
    const { profile } = await session.post('Profiler.stop')
    writeFileSync(join(into, `thread-${threadId}.cpuprofile`), JSON.stringify(profile))
    session.disconnect()
  }
}
