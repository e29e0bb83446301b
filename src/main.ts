// The server program: reads the settings, starts, logs its address; on SIGTERM or SIGINT drains and exits with 0.
import { type Config, ConfigError, readConfig } from './config.js'
import { MigrationError } from './errors.js'
import { markInPlace } from './host/thread-priority.js'
import { createLogger } from './log.js'
import { start, type Tollgate } from './start.js'

async function main(): Promise<void> {
  const stopping = new AbortController()
  const signalled = new Promise<NodeJS.Signals>(resolve => {
    process.on('SIGTERM', resolve)
    process.on('SIGINT', resolve)
  })
  void signalled.then(() => stopping.abort())
  const config = readConfig(process.env)
  const log = createLogger(config)
  markInPlace()
  const began = performance.now()
  const tollgate = await start(config, log, stopping.signal)
  const seconds = ((performance.now() - began) / 1_000).toFixed(2)
  process.stdout.write(`Tollgate listens on http://${config.host}:${tollgate.port} (ready in ${seconds} s)\n`)
  if (tollgate.madeKey) process.stdout.write(firstKey(`${config.dataDir}/bootstrap-key`, tollgate.madeKey))
  if (process.stdout.isTTY) process.stdout.write(await consoleLink(config, tollgate))
  const signal = await signalled
  log.info({ signal }, 'stopping')
  await tollgate.stop()
  log.flush(() => process.exit(0))
}

/** The value is shown on a terminal only, because other output is kept in logs. */
function firstKey(path: string, value: string): string {
  if (process.stdout.isTTY) return `First key, shown once and kept in ${path}:\n  ${value}\n`
  return `The first key is in ${path}\n`
}

/** A link to the console, shown on a terminal only, as it signs in whoever opens it first. */
async function consoleLink({ publicUrl, host }: Config, { port, signInToken }: Tollgate): Promise<string> {
  const base = publicUrl?.replace(/\/+$/, '') ?? `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${port}`
  return `Console, good once and for 15 minutes:\n  ${base}/console/#/sign-in?token=${await signInToken()}\n`
}

main().catch(error => {
  // told to stop while it waited for a store
  if ((error as Error)?.name === 'AbortError') process.exit(0)
  const isPlain = error instanceof ConfigError || error instanceof MigrationError
  const message = isPlain ? error.message : (error as Error)?.stack
  process.stderr.write(`Tollgate did not start: ${message ?? error}\n`)
  process.exit(1)
})
