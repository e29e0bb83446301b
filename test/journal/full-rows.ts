// Rows of draws as journals wrote them before RecordFlag.drawsInRows: with every column, and told by the fact as well.

import type { Effect } from '../../src/core/company/message.js'
import { nanosToDecimal } from '../../src/core/credits/amount.js'
import { grantId } from '../../src/core/credits/grant.js'

export function fullDrawRows(env: string, companyId: string, fx: readonly Effect[]): string {
  let rows = ''
  for (const effect of fx) {
    if (effect.t !== 'credit_draw') continue
    if (effect.ext !== undefined) return ''
    const { c, seq, at, s, f = '', u = '', e = '' } = effect
    for (const [i, [grant, moved, left]] of s.entries()) {
      const credits = nanosToDecimal(moved)
      const amount = moved === 0 ? '0\t0' : `-${credits}\t${credits}`
      rows +=
        `${env}\t${companyId}\t${c}\t${at}\t${seq + i}\tusage\ttrack\t${amount}\t` +
        `${grantId(companyId, c, grant)}\t${nanosToDecimal(left)}\t${f}\t${u}\t${e}\n`
    }
  }
  return rows
}
