// The law of updates (decision 26): whoever sends back any part of what was just read changes nothing. Held over every
// operation that updates, as the route table has them.
import t from 'tap'
import { titleOf } from '../../src/front/http/routing/route.js'
import { routes } from '../../src/serve/routes.js'
import { startHere } from '../harness.js'
import { Random, times } from '../random.js'
import { notUpdates, updateCases } from './update-cases.js'

t.setTimeout(times(900_000))

/** Bodies of each thing beside the empty and the full one. */
const rounds = times(8)

const { client } = await startHere(t)
const cases = await updateCases(client)
const random = new Random()
t.comment(`TOLLGATE_SEED=${random.seed}`)

const updating = routes
  .filter(({ mutates, method }) => mutates && method !== 'get' && method !== 'del')
  .map(titleOf)
  .filter(title => notUpdates[title] === undefined)

t.test(
  'every operation that changes something has a case here, or a reason why it updates nothing',
  async t => {
    t.same(
      updating.filter(title => cases[title] === undefined),
      [],
      'add it to test/interface/update-cases.ts',
    )
    const known = new Set(updating)
    t.same(
      Object.keys(cases).filter(title => !known.has(title)),
      [],
      'cases of operations that are not there',
    )
    const titles = new Set(routes.map(titleOf))
    t.same(
      Object.keys(notUpdates).filter(title => !titles.has(title)),
      [],
    )
  },
)

for (const title of updating)
  t.test(
    `decision 26: members left out of ${title} are unchanged, and so is a body sent back as read`,
    async t => {
      const [method] = title.split(' ') as [string]
      for (const { path, read, said, naming = {} } of cases[title] ?? []) {
        const before = await read()
        const members = Object.entries(said(before)).filter(([, value]) => value !== undefined)
        const subsets = [[], members, ...members.map(member => [member])]
        for (let i = 0; i < rounds; i++) subsets.push(members.filter(() => random.chance(0.5)))
        for (const subset of subsets) {
          const body = { ...naming, ...Object.fromEntries(subset) }
          const answer = await client.send(method, path, body)
          if (answer.status >= 300) {
            t.fail(`${title} ${JSON.stringify(body)} answered ${answer.status}: ${answer.body.error}`)
            continue
          }
          const after = await read()
          if (JSON.stringify(settled(after)) === JSON.stringify(settled(before))) continue
          t.same(settled(after), settled(before), JSON.stringify(body))
          return
        }
        t.pass(`${path}: ${subsets.length} bodies`)
      }
    },
  )

t.test(
  'model prices are one list, replaced as a whole: what was read, sent back, changes nothing',
  async t => {
    const own = { provider: 'maker', model: 'm', currency: 'usd', effective_at: '2026-01-01T00:00:00.000Z' }
    await client.ok('PUT', '/model-prices', [{ ...own, input: '1', output: '2', reasoning: '3' }])
    const read = await client.ok('GET', '/model-prices')
    const mine = read.filter((price: { provider: string }) => price.provider === 'maker')
    await client.ok('PUT', '/model-prices', mine)
    t.same(await client.ok('GET', '/model-prices'), read)
  },
)

/** Without the instants at which things were last written. */
function settled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(settled)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== 'updated_at')
      .map(([name, member]) => [name, settled(member)]),
  )
}
