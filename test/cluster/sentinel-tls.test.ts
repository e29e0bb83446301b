// Redis and its Sentinel with TLS and a password each. A node finds the primary through them, and its successor.
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RedisOptions } from 'ioredis'
import t, { type Test } from 'tap'
import { temporaryDirectory } from '../stores.js'
import { askWith, lineOf } from './ask-redis.js'
import { makeCertificates, skipped as withoutTls } from './certificates.js'
import { freePort, TestCluster, until, whole, skipped as withoutRedis } from './nodes.js'

const name = 'tollgate'
const password = 'p/ss:w@rd of Redis'
const sentinelPassword = 'p?ss&word of the Sentinel'
const downMs = 1_000

/** The settings of TLS and the password, as lines of a server's file. */
const guarded = (directory: string, port: number, its: string): readonly string[] => [
  'port 0',
  `tls-port ${port}`,
  'bind 127.0.0.1',
  'tls-replication yes',
  'tls-auth-clients no',
  `tls-cert-file ${join(directory, 'one.pem')}`,
  `tls-key-file ${join(directory, 'one.key')}`,
  `tls-ca-cert-file ${join(directory, 'ours.pem')}`,
  `requirepass "${its}"`,
]

/** A server with these lines as its file. Returns what kills it. */
async function startServer(t: Test, lines: readonly string[], ...more: readonly string[]) {
  const directory = await temporaryDirectory(t)
  const file = join(directory, 'redis.conf')
  writeFileSync(file, `${[...lines, `dir ${directory}`].join('\n')}\n`)
  const child = spawn('redis-server', [file, ...more], { stdio: 'ignore' })
  const exited = new Promise(resolve => child.on('exit', resolve))
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exited
  }
  t.teardown(kill)
  return kill
}

const ask = <Answer>(options: RedisOptions, ...words: readonly string[]): Promise<Answer> =>
  askWith<Answer>({ enableReadyCheck: false, ...options }, ...words)

t.test('Sentinels with TLS and passwords', { skip: withoutRedis || withoutTls }, async t => {
  const directory = await temporaryDirectory(t)
  makeCertificates(directory, 'ours', 'one')
  // the test's own probes take any certificate; the node checks it against the authority
  const tls = { rejectUnauthorized: false }
  const [primary, replica, sentinel] = [await freePort(), await freePort(), await freePort()]
  const kept = ['appendonly yes', 'appendfsync always', 'save ""', `masterauth "${password}"`]
  const killPrimary = await startServer(t, [...guarded(directory, primary, password), ...kept])
  const copies = [`replicaof 127.0.0.1 ${primary}`, ...kept]
  await startServer(t, [...guarded(directory, replica, password), ...copies])
  const watches = [
    `sentinel monitor ${name} 127.0.0.1 ${primary} 1`,
    `sentinel auth-pass ${name} "${password}"`,
    `sentinel down-after-milliseconds ${name} ${downMs}`,
  ]
  await startServer(t, [...guarded(directory, sentinel, sentinelPassword), ...watches], '--sentinel')
  const ofSentinel = (...words: readonly string[]) =>
    ask<string[]>({ port: sentinel, password: sentinelPassword, tls }, ...words).catch((): string[] => [])
  const primaryNow = async () => (await ofSentinel('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name))[1]
  await until(async () => {
    const told = await ofSentinel('SENTINEL', 'MASTER', name)
    const info = await ask<string>({ port: replica, password, tls }, 'INFO', 'replication').catch(() => '')
    return told[told.indexOf('num-slaves') + 1] === '1' && lineOf(info, 'master_link_status') === 'up'
  }, 'the Sentinel knows the replica')

  const cluster = await TestCluster.start(t, 1, {
    REDIS_URL:
      `rediss+sentinel://:${encodeURIComponent(password)}@127.0.0.1:${sentinel}/${name}` +
      `?sentinel_password=${encodeURIComponent(sentinelPassword)}`,
    TOLLGATE_REDIS_DURABILITY: 'replicas:1',
    NODE_EXTRA_CA_CERTS: join(directory, 'ours.pem'),
  })
  const { client } = cluster.nodes[0]!
  await client.ok('POST', '/companies', { keys: { slug: 'before' } })
  t.equal(await primaryNow(), String(primary))

  await t.test('nothing is reached without TLS or a password', async t => {
    for (const port of [replica, sentinel]) {
      const right = port === sentinel ? sentinelPassword : password
      t.equal(await ask({ port, password: right, tls }, 'PING'), 'PONG')
      await t.rejects(ask({ port, password: right }, 'PING'), 'without TLS')
      await t.rejects(ask({ port, tls }, 'PING'), 'without a password')
    }
  })

  await t.test('a replica takes the place of the primary', async t => {
    await killPrimary()
    await until(async () => (await primaryNow()) === String(replica), 'the Sentinel names the replica')
    await startServer(t, [
      ...guarded(directory, primary, password),
      `replicaof 127.0.0.1 ${replica}`,
      ...kept,
    ])
    await whole(() => cluster.nodes)
    await until(
      async () =>
        (await client.post('/companies', { keys: { slug: 'after' } }).catch(() => null))?.status === 200,
      'a write is acknowledged',
    )
    for (const slug of ['before', 'after'])
      t.match(await client.ok('GET', `/companies/lookup?slug=${slug}`), { keys: [{ value: slug }] })
    t.equal(cluster.living.length, 1, 'the node stays')
  })
})
