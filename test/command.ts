// The command line in a process of its own, as an operator uses it.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../../bin/tollgate', import.meta.url))

/** How a command ended and all it said. */
export interface Ran {
  readonly code: number | null
  readonly said: string
}

/** Run `tollgate` over a data directory. */
export function command(
  dataDir: string,
  args: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  return new Promise(resolve => {
    const child = spawn(process.execPath, [program, ...args], {
      env: { ...process.env, TOLLGATE_DATA_DIR: dataDir, TOLLGATE_LOG_LEVEL: 'error', ...more },
    })
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', chunk => {
        said += chunk
      })
    child.on('close', code => resolve({ code, said }))
  })
}
