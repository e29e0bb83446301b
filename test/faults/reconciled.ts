// Whether what is in memory agrees with ClickHouse, as `GET /reconcile` tells it.
import type { Test } from 'tap'
import type { Client } from '../harness.js'

/** Every company and event: what the actor counts, ClickHouse's sums and its events agree. */
export async function reconciled(t: Test, client: Client): Promise<void> {
  const ask = () => fetch(`${client.url}/reconcile`, { headers: { 'X-Service-Api-Key': client.key } })
  let answer = await ask()
  // ClickHouse may be behind for a while under load.
  for (; answer.status === 503; answer = await ask()) await new Promise(resolve => setTimeout(resolve, 100))
  const lines = (await answer.text()).trim().split('\n')
  t.match(JSON.parse(lines.at(-1)!), { differences: 0 }, `reconciled: ${lines.at(-1)}`)
}
