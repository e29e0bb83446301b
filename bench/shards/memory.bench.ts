// Memory of 100 000 companies: loaded in a shard (2 keys, 5 traits, 3 counters, 2 grants), and known to the directory
// alone. Their snapshots as text are the baseline: nothing in memory could be much smaller. Run with --expose-gc.

import { decodeCompany, encodeCompany } from '../../src/core/company/state.js'
import { emptyAccount } from '../../src/core/model/account-state.js'
import { addUsage, newCounter } from '../../src/core/usage/counter.js'
import { derivedId } from '../../src/core/values/id.js'
import { Directory } from '../../src/entities/directory/directory.js'
import { company } from '../../test/core/make.js'
import { Actors, companyActor } from '../../workers/shard/actors.js'

const count = Number(process.env.BENCH_COMPANIES ?? 100_000)
const nowMs = Date.UTC(2026, 2, 15, 10)

function measured(): { readonly heap: number; readonly resident: number } {
  globalThis.gc?.()
  globalThis.gc?.()
  const { heapUsed, external, rss } = process.memoryUsage()
  return { heap: heapUsed + external, resident: rss }
}

/** The snapshot of one company as storage has it. */
function snapshot(n: number): string {
  const id = derivedId('comp_', n)
  // each at its own time: nothing may look shared that is not in life
  const atMs = nowMs + n
  const key = (value: string) => ({ value, createdAtMs: atMs, updatedAtMs: atMs })
  const account = emptyAccount(id, 'bcrd_23456789ABC')
  for (const seq of [1, 2])
    account.grants = account.grants.concat({
      seq,
      reason: 'purchased',
      quantity: 1_000_000_000_000n,
      remaining: BigInt(n) * 1_000_000n,
      held: 0n,
      createdAtMs: atMs,
      validFromMs: atMs,
      expiresAtMs: null,
      planGrantId: null,
      licence: null,
      closed: null,
    })
  const counters = ['api_call', 'export', 'login'].map(subtype => {
    const counter = newCounter(atMs)
    addUsage(counter, n % 100, atMs, atMs, null)
    return [subtype, counter] as const
  })
  const made = company({
    id,
    name: `Company ${n}`,
    keys: new Map([
      ['slug', key(`company-${n}`)],
      ['crm', key(`customer-${n * 7}`)],
    ]),
    traits: {
      seats: String(n % 50),
      region: 'eu',
      tier: 'gold',
      domain: `company-${n}.example`,
      owner: `user-${n}`,
    },
    counters: new Map(counters),
    credits: new Map([[account.creditId, account]]),
  })
  return JSON.stringify(encodeCompany(made))
}

function tell(what: string, bytes: number, goal: string): void {
  console.log(what.padEnd(56), `${Math.round(bytes / count).toLocaleString('en')} B a company ${goal}`)
}

const texts = Array.from({ length: count }, (_, n) => snapshot(n))
tell(
  'snapshots as text (baseline)',
  texts.reduce((sum, text) => sum + text.length, 0),
  '',
)

const beforeActors = measured()
const actors = new Actors(count * 2)
for (const text of texts) actors.addAbsent(companyActor(decodeCompany(JSON.parse(text)), 0))
const withActors = measured()
tell('loaded in a shard, heap', withActors.heap - beforeActors.heap, '(goal 2,000)')
tell('loaded in a shard, resident', withActors.resident - beforeActors.resident, '')

const directory = new Directory()
for (let n = 0; n < count; n++) {
  const id = derivedId('comp_', n)
  // texts in one piece, as bodies and rows bring them
  const pairs: [string, string][] = JSON.parse(`[["slug","company-${n}"],["crm","customer-${n * 7}"]]`)
  directory.claim('company', 'env_23456789ABC', id, pairs)
  directory.confirm('company', 'env_23456789ABC', id, pairs, [])
}
const withDirectory = measured()
tell('known to the directory alone, heap', withDirectory.heap - withActors.heap, '(goal 200)')
console.log(
  `resident with ${count.toLocaleString('en')} companies in both`.padEnd(56),
  `${Math.round(withDirectory.resident / 2 ** 20)} MiB`,
)
if (actors.size + directory.size < 0) console.log(texts.length)
