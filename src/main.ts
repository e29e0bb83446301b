// Reads the settings, starts, says where it listens; on SIGTERM or SIGINT drains and exits 0.
import { ConfigError, readConfig } from './config.js'
import { createLogger } from './log.js'
import { start } from './start.js'

async function main(): Promise<void> {
  const config = readConfig(process.env)
  const log = createLogger(config)
  const began = performance.now()
  const tollgate = await start(config, log)
  const seconds = ((performance.now() - began) / 1_000).toFixed(2)
  process.stdout.write(`Tollgate listens on http://${config.host}:${tollgate.port} (ready in ${seconds} s)\n`)
  if (tollgate.madeKey)
    process.stdout.write(
      `First key, shown once and kept in ${config.dataDir}/bootstrap-key:\n  ${tollgate.madeKey}\n`,
    )
  let stopping = false
  const stop = (signal: NodeJS.Signals): void => {
    if (stopping) return
    stopping = true
    log.info({ signal }, 'stopping')
    tollgate.stop().then(
      () => log.flush(() => process.exit(0)),
      error => fail(error),
    )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

function fail(error: unknown): never {
  const message = error instanceof ConfigError ? error.message : (error as Error)?.stack
  process.stderr.write(`Tollgate did not start: ${message ?? error}\n`)
  process.exit(1)
}

main().catch(fail)
