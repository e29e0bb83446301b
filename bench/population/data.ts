// The population that every headline figure is measured on: companies, users, plans and flags from one seed.
import { Random } from './random.js'

export const seed = 20_261_123

/** Companies of each size. Each company has two users. */
export const sizes = { village: 1_000, town: 10_000, city: 100_000 } as const
export type Size = keyof typeof sizes

export const usersPerCompany = 2
export const booleanFeatures = 5
export const numericFeatures = 14
export const creditFeatures = 5
export const ownFlags = 25

/** Names of events, the most popular first. */
export const eventNames = [
  'api_call',
  'page_view',
  'message_sent',
  'file_upload',
  'search',
  'export_made',
  'seat_used',
  'report_run',
  'image_made',
  'webhook_sent',
  'job_run',
  'login',
] as const

export const periods = ['all_time', 'current_day', 'current_week', 'current_month'] as const

/** Event names that cost credits, and credits for one unit. */
export const creditRates: readonly (readonly [name: string, rate: number])[] = [
  [eventNames[2], 0.1],
  [eventNames[4], 0.5],
  [eventNames[6], 1],
  [eventNames[8], 2.5],
  [eventNames[10], 5],
]

export const plans = [
  { name: 'Free', share: 0.7 },
  { name: 'Team', share: 0.25 },
  { name: 'Business', share: 0.05 },
] as const

const regions = ['eu', 'us', 'apac', 'latam'] as const
const tiers = ['bronze', 'silver', 'gold'] as const

export interface Company {
  readonly keys: { readonly slug: string; readonly crm_id: string }
  readonly name: string
  readonly traits: Readonly<Record<string, unknown>>
  /** Index of its plan. */
  readonly plan: number
  readonly addOn: boolean
  readonly override: boolean
  readonly purchased: boolean
}

/** All companies, by popularity. */
export function companies(size: Size): readonly Company[] {
  const random = new Random(seed)
  return Array.from({ length: sizes[size] }, (_, index) => {
    const drawn = random.next()
    return {
      keys: { slug: `company-${index}`, crm_id: `crm-${(index * 7_919 + 1_000_003).toString(36)}` },
      name: `Company ${index} ${random.of(tiers)}`,
      traits: {
        seats: 1 + random.below(500),
        region: random.of(regions),
        tier: random.of(tiers),
        trial: random.next() < 0.2,
        since: new Date(Date.UTC(2020, 0, 1) + random.below(2_000) * 86_400_000).toISOString(),
      },
      plan: drawn < plans[0].share ? 0 : drawn < plans[0].share + plans[1].share ? 1 : 2,
      addOn: random.next() < 0.2,
      override: random.next() < 0.05,
      purchased: random.next() < 0.1,
    }
  })
}

/** The key of a user of a company; `which` is below `usersPerCompany`. */
export function userKeys(company: number, which: number): { readonly email: string } {
  return { email: `user-${company * usersPerCompany + which}@company-${company}.example` }
}

export function userTraits(company: number, which: number): Readonly<Record<string, unknown>> {
  return { role: which === 0 ? 'owner' : 'member', age: 20 + ((company + which) % 50) }
}
