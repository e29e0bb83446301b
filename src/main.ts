// The server program: reads the settings, starts, logs its address; on SIGTERM or SIGINT drains and exits with 0.
import { basename } from 'node:path'
import { type Config, readConfig, refuseArguments } from './config.js'
import { inOneLine } from './host/failure.js'
import { markInPlace } from './host/thread-priority.js'
import { version } from './host/version.js'
import { createLogger, type Logger } from './log.js'
import { start, type Tollgate } from './start.js'

async function main(): Promise<void> {
  // as a command of the command line, the arguments are checked there
  if (basename(process.argv[1] ?? '') === 'main.js') refuseArguments(process.argv.slice(2))
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
  const url = `http://${config.host}:${tollgate.port}`
  // at every log level: it is how a program that starts this one learns the port
  const always = log.child({}, { level: 'info' })
  always.info({ version: version() }, `Tollgate listens on ${url} (ready in ${seconds} s)`)
  if (tollgate.madeKey !== null) tellFirstKey(always, `${config.dataDir}/bootstrap-key`, tollgate.madeKey)
  if (process.stdout.isTTY && process.stderr.isTTY) process.stderr.write(await consoleLink(config, tollgate))
  log.flush()
  const signal = await signalled
  log.info({ signal }, 'stopping')
  await tollgate.stop()
  log.info({ version: version() }, 'stopped')
  log.flush(() => process.exit(0))
}

/** The value is shown on a terminal only, because other output is kept in logs; stdout is for the log's lines alone (S9). */
function tellFirstKey(log: Logger, path: string, value: string): void {
  if (process.stdout.isTTY && process.stderr.isTTY)
    process.stderr.write(`First key, shown once and kept in ${path}:\n  ${value}\n`)
  else log.info({ file: path }, `The first key is in ${path}`)
}

/** Whether the log is to have every detail, before the settings are read. */
function isDetailed({ TOLLGATE_LOG_LEVEL: level = '' }: NodeJS.ProcessEnv): boolean {
  return /^(debug|trace)$/.test(level)
}

/** A link to the console, shown on a terminal only, as it signs in whoever opens it first. */
async function consoleLink({ publicUrl, host }: Config, { port, signInToken }: Tollgate): Promise<string> {
  const base = publicUrl?.replace(/\/+$/, '') ?? `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${port}`
  return `Console, good once and for 15 minutes:\n  ${base}/console/#/sign-in?token=${await signInToken()}\n`
}

main().catch(error => {
  // told to stop while it waited for a store
  if ((error as Error)?.name === 'AbortError') process.exit(0)
  // for those who look into the code: the stack, too
  const told = error instanceof Error && isDetailed(process.env) ? error.stack : inOneLine(error)
  process.stderr.write(`Tollgate did not start: ${told}\n`)
  process.exit(1)
})
