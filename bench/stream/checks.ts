// Checks of one company at a steady rate, while something else is done.
import { setTimeout as sleep } from 'node:timers/promises'
import { Pacer } from '../http/pacer.js'
import { slugOf } from './data.js'

const checksPerSecond = 500
const connections = 16

/** The result of `done`, and the times of the checks meanwhile. errors: a check that was not answered with 200. */
export async function checkedWhile<T>(port: number, done: () => Promise<T>) {
  const checks = new Pacer('/flags/flag1/check', JSON.stringify({ company: { slug: slugOf(7) } }))
  await checks.open(port, connections)
  checks.start(checksPerSecond)
  const result = await done()
  checks.stop()
  await sleep(100)
  if (checks.wrong.size > 0) throw new Error(`checks failed: ${JSON.stringify([...checks.wrong])}`)
  checks.close()
  return { result, times: checks.times }
}
