// Identifiers: 64 bits in 11 characters, and back.
import t from 'tap'
import { decodeId, derivedId, encodeId } from '../../../src/core/values/id.js'

t.test('the 64 bits of an id are had back from it', async t => {
  const halves = [0, 1, 56, 57, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff]
  for (const high of halves)
    for (const low of halves)
      t.strictSame(decodeId('evt_', encodeId('evt_', high, low)), [high, low], `${high} ${low}`)
})

t.test('other text is no id', async t => {
  const id = derivedId('evt_', 'a')
  t.not(decodeId('evt_', id), null)
  for (const other of [
    id.replace('evt_', 'usr_'),
    id.slice(0, -1),
    `${id}2`,
    `${id.slice(0, -1)}0`, // a look-alike
    `${id.slice(0, -1)}é`,
    'evt_zzzzzzzzzzz', // more than 64 bits
    '',
  ])
    t.equal(decodeId('evt_', other), null, other)
})
