// Companies that are not in memory, asked for by many at once: each is loaded once, and what was applied to it
// meanwhile is not loaded over.
import t from 'tap'
import { startHere } from '../harness.js'

const companies = Array.from({ length: 20 }, (_, index) => `cold${index}`)
const perCompany = 10

t.test('events that arrive while their company is loaded are counted, each once', async t => {
  const first = await startHere(t)
  const send = (client: typeof first.client, slug: string) => {
    const body = { event: 'call', company: { slug }, user: { mail: slug } }
    return client.ok('POST', '/events', { event_type: 'track', body })
  }
  await Promise.all(companies.map(slug => send(first.client, slug)))
  await first.tollgate.stop()

  const { client } = await startHere(t, { TOLLGATE_DATA_DIR: first.dataDir })
  const sent: Promise<unknown>[] = []
  for (const slug of companies)
    for (let round = 0; round < perCompany; round++) {
      sent.push(send(client, slug))
      await new Promise(resolve => setImmediate(resolve))
    }
  await Promise.all(sent)
  for (const slug of companies) {
    const company = await client.ok('GET', `/companies/lookup?slug=${slug}`)
    const metric = company.metrics.find((one: { period: string }) => one.period === 'all_time')
    t.equal(metric.value, 1 + perCompany, slug)
  }
})
