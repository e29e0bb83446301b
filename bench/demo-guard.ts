// Ends what a demonstration started, when it is gone: `node dist/bench/demo-guard.js DIRECTORY`. Its standard input ends
// with the demonstration, however that ended: by itself, by a signal, or killed. Every process whose command line names
// the directory is ended, and the directory removed.
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** How long they may take to end by themselves before they are killed. */
const patienceMs = 5_000
const againMs = 50

const directory = process.argv[2]
if (directory === undefined) throw new Error('usage: demo-guard DIRECTORY')

/** Other processes whose command line names the directory. */
function left(): readonly number[] {
  return execFileSync('ps', ['-axo', 'pid=,args='], { encoding: 'utf8', maxBuffer: 1 << 26 })
    .split('\n')
    .filter(line => line.includes(directory!))
    .map(line => Number.parseInt(line, 10))
    .filter(pid => pid !== process.pid)
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids)
    try {
      process.kill(pid, name)
    } catch {
      // it is gone
    }
}

process.stdin.resume().on('end', async () => {
  signal(left(), 'SIGINT')
  for (let waitedMs = 0; left().length > 0; waitedMs += againMs) {
    if (waitedMs >= patienceMs) signal(left(), 'SIGKILL')
    await sleep(againMs)
  }
  rmSync(directory, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 })
})
