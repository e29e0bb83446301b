// TLS between nodes: both sides show a certificate of the nodes' authority, nobody reads what passes, and nobody in
// between takes part. Certificates are made here.
import { readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls, createServer as createTlsServer } from 'node:tls'
import t, { type Test } from 'tap'
import { Door, hearsNothing, Peer } from '../../src/cluster/link.js'
import { reaches } from '../../src/cluster/reach.js'
import { type LinkSecurity, linkSecurity } from '../../src/cluster/security.js'
import { FaultLog } from '../../src/cluster/tls-faults.js'
import { ConfigError, readConfig } from '../../src/config.js'
import { temporaryDirectory } from '../stores.js'
import { makeCertificates, openssl, skipped as without } from './certificates.js'
import { TestCluster, until, whole, skipped as withoutRedis } from './nodes.js'

const secret = 'a secret that only nodes of this test know'
const silenceMs = 30_000
const settingsOf = (directory: string, name: string, authority: string) => ({
  TOLLGATE_NODE_TLS_CERT: join(directory, `${name}.pem`),
  TOLLGATE_NODE_TLS_KEY: join(directory, `${name}.key`),
  TOLLGATE_NODE_TLS_CA: join(directory, `${authority}.pem`),
})

/** refused: receives why TLS with another node failed. */
async function listen(
  t: Test,
  security: LinkSecurity,
  refused: (address: string, reason: string) => void = () => {},
): Promise<number> {
  const door = await Door.listen({ host: '127.0.0.1', port: 0 }, security, silenceMs, {
    cells: () => {},
    call: async (_, name, given) => [name, given],
    left: () => {},
    refused,
  })
  t.teardown(() => door.close())
  return door.port
}

/** Passes bytes on, and keeps them. Returns its port. */
async function listener(t: Test, to: number, heard: Buffer[]): Promise<number> {
  const server = createServer(asks => {
    const serves = connect(to, '127.0.0.1')
    for (const [from, into] of [
      [asks, serves],
      [serves, asks],
    ] as const) {
      from.on('data', (piece: Buffer) => {
        heard.push(piece)
        into.write(piece)
      })
      from.on('close', () => into.destroy())
      from.on('error', () => {})
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return (server.address() as { port: number }).port
}

/** The answer to a call that the peer makes at a port. */
async function called(port: number, security: LinkSecurity, given: string): Promise<unknown> {
  let up = (): void => {}
  const isUp = new Promise<void>(resolve => {
    up = resolve
  })
  const hears = { ...hearsNothing, up }
  const where = { host: '127.0.0.1', port }
  const peer = new Peer('one', where, { node: 'two', slot: 2 }, security, silenceMs, hears)
  try {
    await isUp
    return await peer.call('echo', given)
  } finally {
    peer.close()
  }
}

t.test('connections', { skip: without }, async t => {
  const directory = await temporaryDirectory(t)
  makeCertificates(directory, 'ours', 'one', 'two')
  makeCertificates(directory, 'theirs', 'stranger')
  const security = (name: string, authority: string, known = secret): LinkSecurity => {
    const { nodeTls } = readConfig(settingsOf(directory, name, authority))
    return linkSecurity({ clusterSecret: known, nodeTls })
  }
  const one = security('one', 'ours')
  const two = security('two', 'ours')
  const plain: LinkSecurity = { secret, tls: null }
  const port = await listen(t, one)
  const plainPort = await listen(t, plain)

  await t.test('two nodes with certificates of one authority talk, and nobody reads it', async t => {
    const word = 'something nobody else may read'
    const heard: Buffer[] = []
    t.same(await called(await listener(t, port, heard), two, word), ['echo', word])
    t.ok(heard.length > 0)
    t.notOk(Buffer.concat(heard).includes(word))
    const plainly: Buffer[] = []
    t.same(await called(await listener(t, plainPort, plainly), plain, word), ['echo', word])
    t.ok(Buffer.concat(plainly).includes(word), 'without TLS it can be read')
  })

  await t.test('every other one is refused', async t => {
    // It has a certificate, knows no secret, and passes on what both sides say.
    const between = createTlsServer({ ...two.tls!, requestCert: true }, asks => {
      const serves = connectTls({ port, ...two.tls!, checkServerIdentity: () => undefined })
      asks.pipe(serves).pipe(asks)
      asks.on('error', () => {})
      serves.on('error', () => {})
      t.teardown(() => asks.destroy() && serves.destroy())
    })
    await new Promise<void>(resolve => between.listen(0, '127.0.0.1', resolve))
    t.teardown(() => between.close())
    const { port: betweenPort } = between.address() as { port: number }
    const asked: readonly (readonly [string, number, LinkSecurity])[] = [
      ['no certificate', port, plain],
      [
        'a certificate of another authority',
        port,
        { secret, tls: { ...security('stranger', 'theirs').tls!, ca: one.tls!.ca } },
      ],
      [
        'a node of another authority asked',
        port,
        { secret, tls: { ...two.tls!, ca: security('stranger', 'theirs').tls!.ca } },
      ],
      ['another secret', port, { ...two, secret: 'another secret, as long as the one of this test' }],
      ['somebody in between with a certificate', betweenPort, two],
      ['a node without TLS asked', plainPort, two],
    ]
    const reached = await Promise.all(
      asked.map(([, at, with_]) => reaches({ host: '127.0.0.1', port: at }, with_)),
    )
    for (const [i, [name]] of asked.entries()) t.equal(reached[i], false, name)
    t.equal(await reaches({ host: '127.0.0.1', port }, two), true, 'the right one is reached')
  })

  await t.test('a fault of TLS is named, on the node that finds it', async t => {
    makeCertificates(directory, 'late', 'early')
    const expired = ['x509', '-req', '-in', 'one.csr', '-CA', 'ours.pem', '-CAkey', 'ours.key', '-days', '0']
    openssl(directory, ...expired, '-CAcreateserial', '-out', 'expired.pem')
    writeFileSync(join(directory, 'expired.key'), readFileSync(join(directory, 'one.key')))
    const faults: string[] = []
    const tell = (reason: string) => void faults.push(reason)
    const tellAddress = (address: string, reason: string) => tell(`${address}: ${reason}`)
    const serves = (with_: LinkSecurity) => listen(t, with_, tellAddress)
    const ask = async (to: LinkSecurity, with_: LinkSecurity, fault: RegExp) => {
      const at = await serves(to)
      faults.length = 0
      // The certificate of no days expires when its second is over.
      await until(
        async () => {
          const reached = await reaches({ host: '127.0.0.1', port: at }, with_, tell)
          return !reached && faults.some(one => fault.test(one))
        },
        () => `the fault is named: ${faults}`,
      )
    }
    const trusting = { secret, tls: { ...security('early', 'late').tls!, ca: one.tls!.ca } }
    await ask(trusting, two, /^the other node's certificate was not signed by the nodes' authority/)
    await ask(
      two,
      trusting,
      /^127.0.0.1: the asking node's certificate was not signed by the nodes' authority/,
    )
    await ask(
      security('expired', 'ours'),
      two,
      /^the other node's certificate has expired \(CERT_HAS_EXPIRED\)$/,
    )
    await ask(two, security('expired', 'ours'), /^127.0.0.1: the asking node's certificate has expired/)
    await ask(two, plain, /^127.0.0.1: .* TLS handshake.* every node needs a certificate, or none has one/)
    await ask(plain, two, /^the .*TLS handshake.* every node needs a certificate, or none has one/)
    const told: string[] = []
    const log = new FaultLog((who, reason) => void told.push(`${who}: ${reason}`))
    for (const who of ['a', 'b', 'a', 'b']) log.tell(who, 'expired')
    t.same(told, ['a: expired', 'b: expired'], 'each once in a while, though every attempt fails')
  })

  await t.test('wrong files stop the start, and the error names the setting', async t => {
    const right = settingsOf(directory, 'one', 'ours')
    const starts = (more: object) => () =>
      linkSecurity(readConfig({ ...right, TOLLGATE_CLUSTER_SECRET: secret, ...more }))
    t.doesNotThrow(starts({}))
    for (const name of Object.keys(right)) {
      t.throws(starts({ [name]: '/nowhere/file.pem' }), {
        name: 'ConfigError',
        message: new RegExp(`${name}: .*nowhere`),
      })
      t.throws(starts({ [name]: '' }), ConfigError, `${name} is missing`)
    }
    const other = join(directory, 'two.key')
    t.throws(starts({ TOLLGATE_NODE_TLS_KEY: other }), { message: /TOLLGATE_NODE_TLS_KEY: .*mismatch/ })
    const none = join(directory, 'none.pem')
    writeFileSync(none, readFileSync(other))
    t.throws(starts({ TOLLGATE_NODE_TLS_CA: none }), { message: /TOLLGATE_NODE_TLS_CA: / })
  })
})

t.test('a cluster', { skip: without || withoutRedis }, async t => {
  const directory = await temporaryDirectory(t)
  makeCertificates(directory, 'ours', 'one')
  const cluster = await TestCluster.start(t, 2, settingsOf(directory, 'one', 'ours'))
  await whole(() => cluster.nodes)
  const [one, other] = cluster.nodes.map(({ client }) => client)
  const slugs = Array.from({ length: 12 }, (_, i) => `co${i}`)
  await Promise.all(slugs.map(slug => one!.ok('POST', '/companies', { keys: { slug } })))
  for (const slug of slugs)
    t.match(await other!.ok('GET', `/companies/lookup?slug=${slug}`), { keys: [{ value: slug }] })
  const { code, out, err } = await cluster.command('cluster')
  t.equal(code, 0, err)
  t.match(out, /\nnode-2 .* yes\n/, 'the command reaches the nodes too')
})
