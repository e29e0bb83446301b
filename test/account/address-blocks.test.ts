// Blocks within blocks, for the law that a key's addresses are a subset of its maker's.
import t from 'tap'
import { addressList, everyAddress, isWithinBlocks } from '../../src/account/address-blocks.js'

t.test('L3 a block is within others exactly when each of its addresses is', async t => {
  const within: readonly (readonly [string, string[]])[] = [
    ['203.0.113.7', ['203.0.113.0/24']],
    ['203.0.113.0/24', ['203.0.113.0/24']],
    ['203.0.113.0/24', ['10.0.0.0/8', '0.0.0.0/0']],
    ['2001:db8::/48', ['2001:db8::/32']],
    // an IPv4 address counts as its IPv6 form, in ::ffff:0:0/96
    ['203.0.113.0/24', ['::ffff:0:0/96']],
    ['::ffff:203.0.113.0/120', ['203.0.113.0/24']],
    ['0.0.0.0/0', ['::/0']],
    [everyAddress, ['::/0']],
    [everyAddress, ['0.0.0.0/0', '::/0']],
  ]
  for (const [block, blocks] of within) t.ok(isWithinBlocks(block, blocks), `${block} in ${blocks}`)

  const beyond: readonly (readonly [string, string[]])[] = [
    [everyAddress, ['0.0.0.0/0']],
    [everyAddress, ['::ffff:0:0/96']],
    [everyAddress, ['2000::/3', '0.0.0.0/0']],
    ['2001:db8::1', ['0.0.0.0/0']],
    ['203.0.112.0/23', ['203.0.113.0/24']],
    ['::ffff:203.0.112.0/119', ['203.0.113.0/24']],
    ['::ffff:0:0/95', ['0.0.0.0/0']],
    ['10.0.0.1', ['2001:db8::/32']],
    ['no address', ['::/0']],
  ]
  for (const [block, blocks] of beyond) t.notOk(isWithinBlocks(block, blocks), `${block} in ${blocks}`)
})

t.test('L3 every address lies in the block that stands for all', async t => {
  const list = addressList([everyAddress])
  for (const address of ['0.0.0.0', '255.255.255.255', '::', '::ffff:192.0.2.1', 'ffff::1'])
    t.ok(list.has(address), address)
})
