// Sentinels of a primary, for tests.
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { temporaryDirectory } from '../stores.js'
import { ask } from './ask-redis.js'
import { freePort } from './nodes.js'

/** The name by which Sentinels know the primary. */
export const primaryName = 'tollgate'

/**
 * Start a Sentinel of the primary on this port.
 *
 * quorum   number of Sentinels that must agree on a fail-over.
 * deaf     it does not hear of other Sentinels, and not of their fail-overs.
 * downMs   a server that does not answer for so long is replaced.
 * returns  its port.
 */
export async function startSentinel(
  t: Test,
  primary: number,
  { quorum, deaf = false, downMs = 3_000 }: { quorum: number; deaf?: boolean; downMs?: number },
): Promise<number> {
  const directory = await temporaryDirectory(t)
  const port = await freePort()
  const file = join(directory, 'sentinel.conf')
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${directory}`,
    `sentinel monitor ${primaryName} 127.0.0.1 ${primary} ${quorum}`,
    `sentinel down-after-milliseconds ${primaryName} ${downMs}`,
    `sentinel failover-timeout ${primaryName} 10000`,
    ...(deaf ? ['SUBSCRIBE', 'PUBLISH'] : []).map(
      word => `sentinel rename-command ${primaryName} ${word} no-${word}`,
    ),
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  const child = spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' })
  const exited = new Promise(resolve => child.on('exit', resolve))
  t.teardown(async () => {
    child.kill('SIGKILL')
    await exited
  })
  return port
}

/** Everything that a Sentinel tells of the primary, by name; empty while it does not answer. */
export async function toldBy(sentinel: number): Promise<ReadonlyMap<string, string>> {
  const answer = await ask<string[]>(sentinel, 'SENTINEL', 'MASTER', primaryName).catch(() => [])
  return new Map(answer.flatMap((word, i) => (i % 2 === 0 ? [[word, answer[i + 1]!]] : [])))
}

/** The port of the primary that a Sentinel names; NaN while it does not answer. */
export async function primaryBy(sentinel: number): Promise<number> {
  const answer = ask<string[]>(sentinel, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', primaryName)
  return Number((await answer.catch((): string[] => []))[1])
}

/** The form of REDIS_URL for these Sentinels. */
export const sentinelUrl = (ports: readonly number[]): string =>
  `redis+sentinel://${ports.map(port => `127.0.0.1:${port}`).join(',')}/${primaryName}`
