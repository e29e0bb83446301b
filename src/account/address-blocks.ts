// Address blocks in CIDR notation, IPv4 and IPv6, for the address lists of keys.
import { BlockList, isIP } from 'node:net'
import type { AddressList } from './key-types.js'

interface Block {
  readonly address: string
  readonly bits: number
  readonly family: 'ipv4' | 'ipv6'
}

/** Parse `203.0.113.0/24`, `2001:db8::/32`, or a single address; null if invalid. */
function blockOf(text: string): Block | null {
  const [, address = '', bits] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const version = isIP(address)
  if (version === 0) return null
  const most = version === 4 ? 32 : 128
  const given = bits === undefined ? most : Number(bits)
  return given > most ? null : { address, bits: given, family: version === 4 ? 'ipv4' : 'ipv6' }
}

/** Whether a text is a valid block. */
export function isAddressBlock(text: string): boolean {
  return blockOf(text) !== null
}

/** The block of every address. An IPv4 address counts as its IPv6 form, in ::ffff:0:0/96. */
export const everyAddress = '::/0'

/** Whether every address of a block is in one of the others, IPv4 and IPv6. */
export function isWithinBlocks(text: string, blocks: readonly string[]): boolean {
  const inner = blockOf(text)
  if (inner === null) return false
  return blocks.some(one => {
    const outer = blockOf(one)
    return outer !== null && bitsInV6(inner) >= bitsInV6(outer) && addressList([one]).has(inner.address)
  })
}

function bitsInV6({ family, bits }: Block): number {
  return family === 'ipv4' ? bits + 96 : bits
}

/**
 * A list of blocks that can be asked for addresses. An IPv4 address written as IPv6 matches blocks of its IPv4 form.
 *
 * texts  invalid ones are left out: stored lists were validated before.
 */
export function addressList(texts: readonly string[]): AddressList {
  const list = new BlockList()
  for (const text of texts) {
    const block = blockOf(text)
    if (block !== null) list.addSubnet(block.address, block.bits, block.family)
  }
  return {
    has(address) {
      const version = isIP(address)
      return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6')
    },
  }
}
