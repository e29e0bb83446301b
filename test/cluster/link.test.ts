// The connection between two nodes: frames of one turn are one packet, in their order, and a node of another version is refused in
// words on both sides.
import { connect, createServer } from 'node:net'
import t, { type Test } from 'tap'
import { Door, hearsNothing, Peer } from '../../src/cluster/link.js'
import { faultOfSpeech, linkVersion, oldestVersion } from '../../src/cluster/protocol.js'
import type { Packet } from '../../src/wire/message-codec.js'

const security = { secret: 'a secret that only nodes of this test know', tls: null }
const silenceMs = 30_000

/** A peer of a port. Resolves when it is connected. */
async function peerOf(t: Test, port: number, hears = hearsNothing): Promise<Peer> {
  const where = { host: '127.0.0.1', port }
  const peer = await new Promise<Peer>(resolve => {
    const made: Peer = new Peer('one', where, { node: 'two', slot: 2 }, security, silenceMs, {
      ...hears,
      up: () => resolve(made),
    })
  })
  t.teardown(() => peer.close())
  return peer
}

t.test('requests and calls of one turn arrive in their order, and so do the answers', async t => {
  const heard: string[] = []
  const door = await Door.listen({ host: '127.0.0.1', port: 0 }, security, silenceMs, {
    cells: (guest, shard, cells) => {
      heard.push(`${shard} ${cells[1].length}`)
      guest.reply(shard, cells)
    },
    call: async (_, name, given) => [name, given],
    left: () => {},
    refused: () => {},
  })
  t.teardown(() => door.close())
  const packets: number[] = []
  const all = new Promise<void>(resolve => {
    const done = (): void => {
      if (packets.length === 40) resolve()
    }
    void peerOf(t, door.port, {
      ...hearsNothing,
      replies: shard => {
        packets.push(shard)
        done()
      },
    }).then(async peer => {
      // together longer than what is gathered: some leave before the end of the turn
      for (let shard = 0; shard < 40; shard++)
        t.ok(peer.post(shard, [[], 'x'.repeat(shard * 10_000), []] as Packet, 0, performance.now() + 60_000))
      t.same(await peer.call('echo', { n: 1 }), ['echo', { n: 1 }])
    })
  })
  await all
  t.same(
    heard,
    Array.from({ length: 40 }, (_, shard) => `${shard} ${shard * 10_000}`),
  )
  t.same(
    packets,
    Array.from({ length: 40 }, (_, shard) => shard),
  )
})

const fault = /^it speaks an earlier version of the nodes' protocol, this build version \d+: stop all nodes/

t.test('a node of an earlier version that asks is refused in words', async t => {
  const refused = new Promise<string>(resolve => {
    void Door.listen({ host: '127.0.0.1', port: 0 }, security, silenceMs, {
      cells: () => {},
      call: async () => null,
      left: () => {},
      refused: (_, reason) => resolve(reason),
    }).then(door => {
      t.teardown(() => door.close())
      const socket = connect(door.port, '127.0.0.1')
      socket.on('error', () => {})
      const bytes = Buffer.from(JSON.stringify({ node: 'old', slot: 1, nonce: 'n', proof: 'p' }))
      const head = Buffer.alloc(4)
      head.writeUInt32LE(bytes.length)
      socket.once('data', () => socket.write(Buffer.concat([head, bytes])))
    })
  })
  t.match(await refused, fault)
})

t.test('a node of an earlier version that is asked is told of', async t => {
  const server = createServer(socket => {
    socket.on('error', () => {})
    const bytes = Buffer.from(JSON.stringify({ nonce: 'n' }))
    const head = Buffer.alloc(4)
    head.writeUInt32LE(bytes.length)
    socket.write(Buffer.concat([head, bytes]))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }
  const reason = await new Promise<string>(resolve => {
    const peer = new Peer('one', { host: '127.0.0.1', port }, { node: 'two', slot: 2 }, security, silenceMs, {
      ...hearsNothing,
      refused: resolve,
    })
    t.teardown(() => peer.close())
  })
  t.match(reason, fault)
  t.ok(linkVersion > 1)
})

t.test('two builds work side by side when each understands the other', async t => {
  for (const [version, oldest] of [
    [linkVersion, oldestVersion],
    [linkVersion + 1, linkVersion],
    [oldestVersion, oldestVersion],
    [oldestVersion, oldestVersion - 1],
  ] as const)
    t.equal(faultOfSpeech(version, oldest), null, `${version}, from ${oldest} on`)
  for (const [version, oldest] of [
    [linkVersion + 1, linkVersion + 1],
    [linkVersion + 1, undefined],
    [oldestVersion - 1, undefined],
    [oldestVersion - 1, oldestVersion - 2],
    [undefined, undefined],
    ['4', 4],
  ])
    t.match(faultOfSpeech(version, oldest), /^speaks .+: stop all nodes/, `${version}, from ${oldest} on`)
})
