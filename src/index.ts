// Tollgate as a library: `import { start } from 'tollgate'`. Its types are maintained by hand in types/index.d.ts.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RunningTollgate, Settings } from '../types/index.js'
import { type Config, ConfigError, readConfig } from './config.js'
import { createLogger } from './log.js'
import { start as open } from './start.js'

/** Setting names without the prefix TOLLGATE_. */
const further = /^(TOLLGATE_.+|(DATABASE|CLICKHOUSE)_URL(_FILE)?|OTEL_EXPORTER_OTLP(_TRACES)?_ENDPOINT)$/

/**
 * Serve inside this process, like `tollgate start`. The caller handles signals.
 *
 * settings  by the names in docs/settings.md; the environment is not read.
 * errors    an invalid or unknown setting; any failure to start, after everything opened is closed again.
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

/** An address through which this machine can reach a server listening on `host`. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

/** The bootstrap key from the data directory; null when it is not kept there. */
async function keptKey({ dataDir }: Config): Promise<string | null> {
  const text = await readFile(join(dataDir, 'bootstrap-key'), 'utf8').catch(() => '')
  return text.trim() || null
}
