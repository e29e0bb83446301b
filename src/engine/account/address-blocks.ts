// Blocks of addresses in CIDR notation, of both kinds, as a key's list of addresses has them.
import { BlockList, isIP } from 'node:net'
import type { AddressList } from './key-types.js'

interface Block {
  readonly address: string
  readonly bits: number
  readonly family: 'ipv4' | 'ipv6'
}

/** `203.0.113.0/24`, `2001:db8::/32`, or one address; null for what is neither. */
function blockOf(text: string): Block | null {
  const [, address = '', bits] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const version = isIP(address)
  if (version === 0) return null
  const most = version === 4 ? 32 : 128
  const given = bits === undefined ? most : Number(bits)
  return given > most ? null : { address, bits: given, family: version === 4 ? 'ipv4' : 'ipv6' }
}

/** Whether a text names a block of addresses. */
export function isAddressBlock(text: string): boolean {
  return blockOf(text) !== null
}

/**
 * The blocks, to be asked for single addresses. An IPv4 address that is written as an IPv6 one lies in the block of its
 * IPv4 address.
 *
 * texts  what names no block is left out: a list that was stored was judged before.
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
