// A process of its own that makes checks one after the other and tells how long each took, ms.
import { once } from 'node:events'
import { post } from '../product.js'

export interface ChecksAsked {
  readonly port: number
  readonly checks: number
  readonly companies: number
  readonly flagKeys: readonly string[]
}

const [asked] = (await once(process, 'message')) as [ChecksAsked]
const { port, checks, companies, flagKeys } = asked
const waits: number[] = []
for (let i = 0; i < checks; i++) {
  const begun = performance.now()
  const company = { slug: `company-${(i * 7) % companies}` }
  await post(port, `/flags/${flagKeys[i % flagKeys.length]}/check`, JSON.stringify({ company }))
  waits.push(performance.now() - begun)
}
process.send!(waits)
