// One Tollgate per data directory, whatever became of the last one.
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { lockDataDir } from '../../src/storage/lock.js'
import { startOf } from '../../src/storage/process.js'
import { temporaryDirectory } from '../stores.js'
import { hold, killHard } from './embedded/hold.js'

const locks = (directory: string) => readdirSync(directory).filter(name => name.endsWith('.lock'))

t.test('a second process is refused, with the first one named', async t => {
  const directory = await temporaryDirectory(t)
  const first = await hold(t, 'lock', directory)
  await t.rejects(lockDataDir(directory), { message: new RegExp(`in use .*process ${first.pid}\\)`) })
  t.equal(locks(directory).length, 1, 'the refused one leaves nothing behind')
})

t.test('a lock of a killed process is taken over', async t => {
  const directory = await temporaryDirectory(t)
  const first = await hold(t, 'lock', directory)
  await killHard(first.pid)
  t.equal(locks(directory).length, 1)
  const lock = await lockDataDir(directory)
  t.equal(locks(directory).length, 1, 'the claim of the dead is gone')
  lock.release()
  t.equal(locks(directory).length, 0)
})

t.test('a pid that was given out again does not hold the lock of its predecessor', async t => {
  const directory = await temporaryDirectory(t)
  writeFileSync(join(directory, `tollgate-${process.ppid}-12345-0badcafe.lock`), '')
  t.not(startOf(process.ppid), null)
  const lock = await lockDataDir(directory)
  lock.release()
})

t.test('the same process does not lock twice, and may again after a release', async t => {
  const directory = await temporaryDirectory(t)
  const lock = await lockDataDir(directory)
  await t.rejects(lockDataDir(directory), { message: /in use/ })
  lock.release()
  const again = await lockDataDir(directory)
  again.release()
})

t.test('among several that start at once at most one gets it', async t => {
  const directory = await temporaryDirectory(t)
  const contenders = await Promise.allSettled([1, 2, 3, 4].map(() => hold(t, 'lock', directory)))
  const winners = contenders.filter(one => one.status === 'fulfilled')
  t.equal(winners.length, 1)
})
