// A machine without Redis brings its own for the tests, without root.
import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import t from 'tap'
import { freePort } from '../cluster/nodes.js'
import { root } from '../house/source.js'
import { temporaryDirectory } from '../stores.js'

const tool = join(root, 'tools', 'redis')
const target = join(await temporaryDirectory(t), 'redis')
const unpacked = spawnSync(tool, ['--unpack', target], { encoding: 'utf8', timeout: 120_000 })
const skip = unpacked.status !== 0 && `no packages: ${unpacked.stderr.trim()}`

t.test('tools/redis unpacks a redis-server that runs and answers', { skip }, async t => {
  t.equal(unpacked.stdout.trim(), join(target, 'bin'))
  const again = spawnSync(tool, ['--unpack', target], { encoding: 'utf8' })
  t.same([again.status, again.stdout.trim()], [0, join(target, 'bin')], 'what is there stays')
  const port = await freePort()
  const words = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', target]
  const child = spawn(join(target, 'bin', 'redis-server'), words, { stdio: 'ignore' })
  const exited = new Promise(resolve => child.on('exit', resolve))
  const redis = new Redis(port, '127.0.0.1', { retryStrategy: () => 50, maxRetriesPerRequest: null })
  redis.on('error', () => {})
  t.equal(await redis.ping(), 'PONG')
  redis.disconnect()
  child.kill('SIGTERM')
  await exited
})

t.test('without the programs it needs it says so in one line', async t => {
  const told = spawnSync('/bin/bash', [tool, '--unpack', join(target, 'none')], {
    encoding: 'utf8',
    env: { PATH: '/nowhere' },
  })
  t.not(told.status, 0)
})
