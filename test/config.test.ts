// Settings: defaults, ranges, and what a wrong one is told.
import { availableParallelism } from 'node:os'
import t from 'tap'
import { newKeyValue } from '../src/account/key-value.js'
import { defaultShards, type Env, parseLimits, readConfig } from '../src/config.js'

const refuses = (env: Env, message: RegExp) => t.throws(() => readConfig(env), message, JSON.stringify(env))

t.test('nothing needs to be set', async t => {
  const config = readConfig({})
  t.match(config, {
    port: 8080,
    host: '127.0.0.1',
    bootstrapKey: null,
    limits: 'default',
    apiKeyHeaders: ['X-Service-Api-Key'],
    environmentHeaders: ['X-Service-Environment-Id'],
    databaseUrl: null,
    clickhouseUrl: null,
    logLevel: 'info',
  })
  t.equal(config.shards, defaultShards(availableParallelism()))
  t.strictSame(
    [1, 2, 3, 4, 5, 8, 64].map(defaultShards),
    [1, 1, 2, 3, 4, 4, 4],
    'a core is left for the front, and more than four shards cost more than they give',
  )
  t.ok(config.dataDir.startsWith('/') && config.dataDir.endsWith('/data'))
  t.throws(() => Object.assign(config, { port: 1 }), /read only/)
})

t.test('settings are taken, blanks count as unset', async t => {
  const config = readConfig({
    TOLLGATE_PORT: ' 0 ',
    TOLLGATE_SHARDS: '2',
    TOLLGATE_HOST: '',
    TOLLGATE_API_KEY_HEADERS: 'X-Vendor-Key, X-Service-Api-Key',
    TOLLGATE_LIMITS: '{"global":[1000,2000]}',
    DATABASE_URL: 'postgres://u:p@db/tollgate',
    TOLLGATE_FLAG_CHECK_ROWS_PER_SECOND: '0',
    TOLLGATE_TRUST_PROXY: 'true',
  })
  t.match(config, {
    port: 0,
    shards: 2,
    host: '127.0.0.1',
    apiKeyHeaders: ['X-Service-Api-Key', 'X-Vendor-Key'],
    limits: { global: { ratePerSecond: 1_000, burst: 2_000 } },
    databaseUrl: 'postgres://u:p@db/tollgate',
    flagCheckRowsPerSecond: 0,
    trustProxy: 1,
  })
})

t.test('a misspelt setting stops the start and names the nearest one', async t => {
  refuses({ TOLLGATE_SHARD: '2' }, /^TOLLGATE_SHARD is not a setting\. The nearest one is TOLLGATE_SHARDS\.$/)
  refuses({ TOLLGATE_DATADIR: './x' }, /nearest one is TOLLGATE_DATA_DIR/)
  refuses({ TOLLGATE_LOG_LEVEL_: '' }, /nearest one is TOLLGATE_LOG_LEVEL/)
  const others = { TOLLGATE_URL: 'http://x', TOLLGATE_KEY: 'x', TOLLGATE_SERVICE_HOST: '10.0.0.1', PATH: '/' }
  t.doesNotThrow(() => readConfig({ ...others, TOLLGATE_PORT_8080_TCP_ADDR: '10.0.0.1' }))
})

t.test('a wrong setting is named, with its allowed and its actual value', async t => {
  refuses(
    { TOLLGATE_PORT: '65536' },
    /^TOLLGATE_PORT: expected a whole number from 0 to 65535, given "65536"/,
  )
  refuses({ TOLLGATE_SHARDS: '0' }, /^TOLLGATE_SHARDS: .* from 1 to 256, given "0"/)
  refuses({ TOLLGATE_SHARDS: '1.5' }, /^TOLLGATE_SHARDS/)
  refuses({ TOLLGATE_SHARED_PORT: 'true' }, /^TOLLGATE_SHARED_PORT: .* REDIS_URL/)
  refuses({ TOLLGATE_LOG_LEVEL: 'loud' }, /^TOLLGATE_LOG_LEVEL: expected one of trace, debug/)
  refuses(
    { TOLLGATE_TRUST_PROXY: 'yes' },
    /^TOLLGATE_TRUST_PROXY: expected true, false, or a number of proxies/,
  )
  refuses({ TOLLGATE_API_KEY_HEADERS: 'X Key' }, /^TOLLGATE_API_KEY_HEADERS: expected header names/)
  for (const wrong of [
    'on',
    '{}x',
    '[]',
    '{"all":[1,1]}',
    '{"global":[0,1]}',
    '{"global":[1]}',
    '{"global":[1,1.5]}',
  ]) {
    refuses({ TOLLGATE_LIMITS: wrong }, /^TOLLGATE_LIMITS: expected default, off, or/)
  }
  t.same(parseLimits('{"analytics":[0.5,1]}'), { analytics: { ratePerSecond: 0.5, burst: 1 } })
})

t.test('an endpoint in OpenTelemetry’s own names turns traces on', async t => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' }
  t.equal(readConfig({}).tracesUrl, null)
  t.equal(readConfig(endpoint).tracesUrl, 'http://collector:4318/v1/traces')
  const own = { ...endpoint, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces/in' }
  t.equal(readConfig(own).tracesUrl, 'https://traces/in', 'taken as it is')
  t.equal(readConfig({ ...endpoint, OTEL_SDK_DISABLED: 'true' }).tracesUrl, null)
  t.equal(readConfig({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' }).tracesUrl, null)
  refuses({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' }, /^OTEL_EXPORTER_OTLP_ENDPOINT: expected a URL/)
})

t.test('secrets are not shown', async t => {
  const told = (env: Env) => {
    try {
      readConfig(env)
    } catch (error) {
      return String(error)
    }
    return ''
  }
  t.match(told({ TOLLGATE_BOOTSTRAP_KEY: 'short-secret' }), 'given 12 characters')
  t.notMatch(told({ TOLLGATE_BOOTSTRAP_KEY: 'short-secret' }), 'short-secret')
  t.match(told({ DATABASE_URL: 'mysql://u:hidden@db' }), /^ConfigError: DATABASE_URL: .*given one of mysql:/)
  t.notMatch(told({ DATABASE_URL: 'mysql://u:hidden@db' }), 'hidden')
  t.match(newKeyValue('secret', 'development'), /^sk_dev_[\w-]{49}$/)
})

t.test('several fronts need the native server, and one node', async t => {
  t.equal(readConfig({}).fronts, 1)
  t.equal(readConfig({ TOLLGATE_FRONTS: '16' }).fronts, 16)
  refuses({ TOLLGATE_FRONTS: '17' }, /^TOLLGATE_FRONTS: /)
  refuses({ TOLLGATE_FRONTS: '2', TOLLGATE_HTTP: 'node' }, /^TOLLGATE_FRONTS: .*TOLLGATE_HTTP=uws$/)
  refuses({ TOLLGATE_FRONTS: '2', REDIS_URL: 'redis://127.0.0.1:6379' }, /^TOLLGATE_FRONTS: .*REDIS_URL/)
  t.equal(readConfig({ TOLLGATE_FRONTS: '1', TOLLGATE_HTTP: 'node' }).fronts, 1)
})
