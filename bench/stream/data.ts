// Data of the stream's benchmark: companies that count ten events each, and flags that read these counts.
import { post } from '../product.js'

export const companies = 2_000
export const flags = 50
const subtypes = 10

export const slugOf = (company: number): string => `company${company}`

/** One use. */
export const track = (company: number, use: number): object => ({
  event_type: 'track',
  body: { event: `use${use}`, company: { slug: slugOf(company) } },
})

/** Make them. */
export async function fill(port: number): Promise<void> {
  for (let i = 0; i < flags; i++) {
    const flag = { key: `flag${i}`, name: `flag${i}`, description: '', flag_type: 'boolean' }
    const made = await post(port, '/flags', JSON.stringify({ ...flag, default_value: false }))
    const condition = {
      condition_type: 'metric',
      operator: 'lt',
      resource_ids: [],
      event_subtype: `use${i % subtypes}`,
      metric_period: 'current_month',
      metric_value: 1_000_000,
    }
    const rule = { name: 'r', priority: 0, value: true, rule_type: 'standard', condition_groups: [] }
    const rules = [{ ...rule, conditions: [condition] }]
    const { id } = (JSON.parse(made) as { readonly data: { readonly id: string } }).data
    await post(port, `/flags/${id}/rules`, JSON.stringify({ rules }), 'PUT')
  }
  for (let from = 0; from < companies; from += 100) {
    const events = Array.from({ length: 100 * subtypes }, (_, n) =>
      track(from + (n % 100), Math.floor(n / 100)),
    )
    await post(port, '/event-batch', JSON.stringify({ events }))
  }
}
