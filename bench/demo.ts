// npm run demo: an empty Tollgate takes a real data set through its public interface. Flights of one winter become
// events: an airport is a company, a departure an event, its distance the quantity, its time moved onto the last 30
// days. A monthly limit trips for the busiest airports; usage from Tollgate is printed beside the sums of the file.
import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { Presets, SingleBar } from 'cli-progress'
import { listening } from '../test/listening.js'

interface Flight {
  readonly date: string
  readonly distance: number
  readonly origin: string
}

const batchSize = 500
const dayMs = 86_400_000
const shown = 10
/**
 * 20,000 departures of the winter of 2001 with their 220 airports, from the on-time data of the Bureau of Transportation
 * Statistics of the United States, in the public domain. After `airports` follow code and name, after `flights` date,
 * miles and code of the origin.
 */
const data = fileURLToPath(new URL('../../bench/flights.csv.gz', import.meta.url))

/** The flights with their times moved, in order, onto the 30 days that end now. */
function readFlights(flights: readonly Flight[], nowMs: number): (Flight & { readonly atMs: number })[] {
  const times = flights.map(flight => Date.parse(`${flight.date.replaceAll('/', '-').replace(' ', 'T')}:00Z`))
  const first = Math.min(...times)
  const span = Math.max(...times) - first
  return flights.map((flight, index) => {
    const share = (times[index]! - first) / span
    return { ...flight, atMs: Math.floor(nowMs - 30 * dayMs + share * (30 * dayMs - 60_000)) }
  })
}

/** The file: flights in order, and the names of airports by code. */
function readData(): { readonly flights: readonly Flight[]; readonly names: ReadonlyMap<string, string> } {
  const [airports, rows] = gunzipSync(readFileSync(data)).toString().trimEnd().split('\nflights\n')
  const cells = (text: string) => text.split('\n').map(line => line.split(','))
  return {
    flights: cells(rows!).map(([date, distance, origin]) => ({
      date: date!,
      distance: Number(distance),
      origin: origin!,
    })),
    names: new Map(cells(airports!).map(([code, name]) => [code!, name!])),
  }
}

/** Sums of distance by airport. */
function sums(flights: readonly Flight[]): ReadonlyMap<string, number> {
  const total = new Map<string, number>()
  for (const { origin, distance } of flights) total.set(origin, (total.get(origin) ?? 0) + distance)
  return total
}

/** A Tollgate of its own on an empty directory; ends with the demo. */
async function startEmpty(): Promise<{ url: string; key: string; stop(): Promise<void> }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-demo-'))
  chmodSync(dataDir, 0o711)
  const key = 'sk_dev_q7ZnR2vK9sXw4BtJ8mCyL1fHdP6gUaQ3eTiVo5YkWrN'
  const main = fileURLToPath(new URL('../served/main.js', import.meta.url))
  const child = spawn(process.execPath, [main], {
    env: {
      PATH: process.env.PATH,
      TOLLGATE_DATA_DIR: dataDir,
      TOLLGATE_PORT: '0',
      TOLLGATE_LIMITS: 'off',
      TOLLGATE_BOOTSTRAP_KEY: key,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const { url, exited } = await listening(child, 'Tollgate')
  return {
    url,
    key,
    async stop() {
      child.kill('SIGTERM')
      await exited
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

type Send = <T>(method: string, path: string, body?: unknown) => Promise<T>

function sender(url: string, key: string): Send {
  return async (method, path, body) => {
    const response = await fetch(url + path, {
      method,
      headers: { 'X-Service-Api-Key': key, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const answer = (await response.json()) as { data: never; error?: string }
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${answer.error}`)
    return answer.data
  }
}

async function postEvents(
  send: Send,
  flights: readonly (Flight & { readonly atMs: number })[],
): Promise<void> {
  const bar = new SingleBar(
    { format: ' {bar} {value}/{total} events', etaBuffer: 50 },
    Presets.shades_classic,
  )
  bar.start(flights.length, 0)
  for (let from = 0; from < flights.length; from += batchSize) {
    const batch = flights.slice(from, from + batchSize)
    await send('POST', '/event-batch', {
      events: batch.map(({ origin, distance, atMs }, index) => ({
        event_type: 'track',
        idempotency_key: `flight-${from + index}`,
        sent_at: new Date(atMs).toISOString(),
        trusted_client_clock: true,
        body: { event: 'departure', company: { iata: origin }, quantity: distance },
      })),
    })
    bar.increment(batch.length)
  }
  bar.stop()
}

async function run(send: Send): Promise<boolean> {
  const nowMs = Date.now()
  const { flights: read, names } = readData()
  const flights = readFlights(read, nowMs)
  const monthMs = Date.UTC(new Date(nowMs).getUTCFullYear(), new Date(nowMs).getUTCMonth(), 1)
  const everything = sums(flights)
  const thisMonth = sums(flights.filter(flight => flight.atMs >= monthMs))
  const ranked = [...everything].sort(([, a], [, b]) => b - a)
  const busiest = ranked.slice(0, shown)
  // a limit between the third and the fourth busiest of this month
  const monthly = [...thisMonth.values()].sort((a, b) => b - a)
  const limit = monthly.length > 3 ? Math.ceil((monthly[2]! + monthly[3]!) / 2) : 1

  const feature = await send<{ id: string }>('POST', '/features', {
    name: 'Miles flown',
    description: 'Distance of keyEpoch',
    feature_type: 'event',
    event_subtype: 'departure',
    flag: { key: 'miles', name: 'Miles', description: '', flag_type: 'boolean', default_value: false },
  })
  await postEvents(send, flights)
  for (const [iata] of busiest) {
    const company = await send<{ id: string }>('POST', '/companies', {
      keys: { iata },
      name: names.get(iata) ?? iata,
    })
    await send('POST', '/company-overrides', {
      company_id: company.id,
      feature_id: feature.id,
      value_type: 'numeric',
      value_numeric: limit,
      metric_period: 'current_month',
      metric_period_month_reset: 'first_of_month',
    })
  }

  console.log(
    `\nMonthly limit ${limit} miles. Usage this month, as told by GET /feature-usage and summed from the file:\n`,
  )
  console.log('  airport                                  told      file   may fly more')
  let equal = true
  for (const [iata] of busiest) {
    const keys = encodeURIComponent(JSON.stringify({ iata }))
    const [row] = await send<{ usage: number; access: boolean }[]>(
      'GET',
      `/feature-usage?company_keys=${keys}`,
    )
    const checked = await send<{ value: boolean }>('POST', '/flags/miles/check', { company: { iata } })
    const expected = thisMonth.get(iata) ?? 0
    const company = await send<{ metrics: { period: string; value: number }[] }>(
      'GET',
      `/companies/lookup?iata=${iata}`,
    )
    const allTime = company.metrics.find(metric => metric.period === 'all_time')?.value
    const right =
      row?.usage === expected &&
      row.access === checked.value &&
      checked.value === expected < limit &&
      allTime === everything.get(iata)
    equal &&= right
    const name = `${iata} ${names.get(iata) ?? ''}`.slice(0, 34).padEnd(34)
    const figures = `${String(row?.usage).padStart(10)}${String(expected).padStart(10)}`
    console.log(`  ${name}${figures}   ${checked.value ? 'yes' : 'no '}${right ? '' : '   DIFFERS'}`)
  }
  return equal
}

const tollgate = await startEmpty()
try {
  const equal = await run(sender(tollgate.url, tollgate.key))
  console.log(equal ? '\nEqual, to the mile.' : '\nTollgate and the file differ.')
  process.exitCode = equal ? 0 : 1
} finally {
  await tollgate.stop()
}
