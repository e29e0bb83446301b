// Tollgate inside another program: `import { start } from 'tollgate'`. Its types are kept by hand in types/index.d.ts.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RunningTollgate, Settings } from '../types/index.js'
import { type Config, ConfigError, readConfig } from './config.js'
import { createLogger } from './log.js'
import { start as open } from './start.js'

/** Names that are settings without the prefix TOLLGATE_. */
const further = /^(TOLLGATE_.+|(DATABASE|CLICKHOUSE)_URL(_FILE)?|OTEL_EXPORTER_OTLP(_TRACES)?_ENDPOINT)$/

/**
 * Serve inside this process, as `tollgate start` does in one of its own. Signals are the caller's to handle.
 *
 * settings  as the README names them; nothing is taken from the environment.
 * errors    a wrong or unknown setting; whatever keeps Tollgate from starting, with everything closed again.
 */
export async function start(settings: Settings = {}): Promise<RunningTollgate> {
  const config = readConfig(asEnvironment(settings))
  const log = createLogger(config)
  const { port, madeKey, stop } = await open(config, log)
  return {
    port,
    url: `http://${reachable(config.host)}:${port}`,
    bootstrapKey: config.bootstrapKey ?? madeKey ?? (await keptKey(config)),
    stop: async () => {
      await stop()
      await new Promise<void>(resolve => log.flush(() => resolve()))
    },
  }
}

function asEnvironment(settings: Settings): Record<string, string> {
  const given = Object.entries(settings).filter(([, value]) => value !== undefined)
  for (const [name] of given) if (!further.test(name)) throw new ConfigError(`${name} is not a setting.`)
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]))
}

/** An address that this machine reaches what listens there by. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

/** The first key of the data directory; null when it was made elsewhere. */
async function keptKey({ dataDir }: Config): Promise<string | null> {
  const text = await readFile(join(dataDir, 'bootstrap-key'), 'utf8').catch(() => '')
  return text.trim() || null
}
