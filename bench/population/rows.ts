// The rows of the table: requests, and their goals relative to the bare route.
import {
  allFlags,
  batches,
  checks,
  details,
  featureUsage,
  lookups,
  type Stream,
  singleEvents,
  upserts,
} from './streams.js'

export interface Row {
  /** Its name on the command line. */
  readonly key: string
  readonly title: string
  readonly stream: Stream
  /** A header that its requests have beside the key's. */
  readonly header?: string
  /** Items in one request. */
  readonly items: number
  readonly unit: string
  readonly connections: number
  /** It leaves something to be carried into the stores. */
  readonly writes: boolean
  /** Least share of the bare route's rate, %; null where another goal is set. */
  readonly shareMin: number | null
  /** Most that p99 may be, times the bare route's; null without a goal. */
  readonly p99Times: number | null
  /** Least items a second; null where another goal is set. */
  readonly rateMin: number | null
}

const usual = {
  items: 1,
  connections: 64,
  writes: false,
  shareMin: null,
  p99Times: null,
  rateMin: null,
} as const

export const rows: readonly Row[] = [
  {
    ...usual,
    key: 'check',
    title: 'one flag, companies by Zipf',
    stream: checks('zipf'),
    unit: 'checks/s',
    shareMin: 65,
    p99Times: 4,
  },
  {
    ...usual,
    key: 'check-uniform',
    title: 'one flag, companies alike',
    stream: checks('uniform'),
    unit: 'checks/s',
    shareMin: 55,
    p99Times: 4,
  },
  {
    ...usual,
    key: 'all',
    title: 'all 50 flags, companies by Zipf',
    stream: allFlags('zipf'),
    unit: 'requests/s',
    shareMin: 35,
    p99Times: 6,
  },
  {
    ...usual,
    key: 'all-uniform',
    title: 'all 50 flags, companies alike',
    stream: allFlags('uniform'),
    unit: 'requests/s',
    shareMin: 25,
    p99Times: 6,
  },
  {
    ...usual,
    key: 'event',
    writes: true,
    title: 'one event with its key, durable',
    stream: singleEvents,
    unit: 'events/s',
    shareMin: 42,
    p99Times: 8,
  },
  {
    ...usual,
    key: 'batch100',
    writes: true,
    title: 'batches of 100 events with keys, durable',
    stream: batches(100),
    items: 100,
    unit: 'events/s',
    rateMin: 250_000,
  },
  {
    ...usual,
    key: 'batch500',
    writes: true,
    title: 'batches of 500 events with keys, durable',
    stream: batches(500),
    items: 500,
    unit: 'events/s',
    rateMin: 250_000,
  },
  {
    ...usual,
    key: 'lookup',
    title: '`GET /companies/lookup`, 25 entitlements',
    stream: lookups,
    unit: 'requests/s',
    rateMin: 6_000,
  },
  {
    ...usual,
    key: 'detail',
    title: '`GET /companies/{company_id}`, 25 entitlements',
    stream: details,
    unit: 'requests/s',
  },
  {
    ...usual,
    key: 'upsert',
    writes: true,
    title: '`POST /companies`, known company',
    stream: upserts,
    unit: 'requests/s',
  },
  {
    ...usual,
    key: 'upsert-minimal',
    writes: true,
    title: '`POST /companies`, known company, `Prefer: return=minimal`',
    stream: upserts,
    header: 'Prefer: return=minimal',
    unit: 'requests/s',
    rateMin: 4_000,
  },
  {
    ...usual,
    key: 'usage',
    title: '`GET /feature-usage` of one company',
    stream: featureUsage,
    unit: 'requests/s',
    rateMin: null,
  },
]
