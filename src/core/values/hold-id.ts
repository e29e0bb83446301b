// Ids of holds. A hold's id contains its company's id, so that a request with the id alone can be routed.
import { derivedId } from './id.js'

export function holdId(companyId: string, creditId: string, seq: number): string {
  return derivedId(holdPrefix(companyId), companyId, creditId, seq)
}

/** The ids of all holds of a company begin with it. */
export function holdPrefix(companyId: string): string {
  return `crlse_${companyId.slice(companyId.indexOf('_') + 1)}`
}

/** The company whose hold this is; null for an id that no hold can have. */
export function companyOfHold(id: string): string | null {
  const named = /^crlse_(\w{11})\w{11}$/.exec(id)
  return named && `comp_${named[1]}`
}
