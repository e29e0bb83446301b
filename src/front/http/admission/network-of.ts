// The network that an address is counted by.
import { isIPv6 } from 'node:net'

/** The address to count by: for IPv6 its network of 64 bits, because one caller usually has all of it. */
export function networkOf(address: string): string {
  if (!address.includes(':') || !isIPv6(address)) return address
  const [head = '', tail] = address.split('%', 1)[0]!.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length)
  const groups = [...before, ...Array.from({ length: zeros }, () => '0'), ...after].slice(0, 4)
  // the servers write groups with and without leading zeros
  return groups.map(group => group.replace(/^0+(?=.)/, '')).join(':')
}
