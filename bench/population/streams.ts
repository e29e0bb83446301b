// Requests on the population: a stream of prepared requests for each kind of work.
import { companies, eventNames, type Size, seed, sizes, userKeys, usersPerCompany } from './data.js'
import type { Filled } from './fill.js'
import { type Prepared, tag } from './prepared.js'
import { type Draw, Random, uniform, zipf } from './random.js'

/** Requests of a stream, at least; batches have as many events. */
export const requestsMin = 50_000
const repeatedShare = 0.01
const namedShare = 0.1

export interface Population {
  readonly size: Size
  readonly filled: Filled
}

export type Stream = (population: Population) => readonly Prepared[]

const drawOf = (kind: 'zipf' | 'uniform', { size }: Population): Draw =>
  (kind === 'zipf' ? zipf : uniform)(sizes[size])

/** Both names of keys are used alike. */
function keysOf(index: number, random: Random): object {
  return random.next() < 0.5
    ? { slug: `company-${index}` }
    : { crm_id: `crm-${(index * 7_919 + 1_000_003).toString(36)}` }
}

function context(index: number, random: Random): object {
  const company = keysOf(index, random)
  return random.next() < 0.5 ? { company } : { company, user: userKeys(index, random.below(usersPerCompany)) }
}

function many(count: number, make: (index: number) => Prepared): readonly Prepared[] {
  return Array.from({ length: count }, (_, index) => make(index))
}

const post = (path: string, body: object): Prepared => ({ method: 'POST', path, body: JSON.stringify(body) })
const get = (path: string): Prepared => ({ method: 'GET', path, body: '' })

/** One flag of one company. */
export function checks(kind: 'zipf' | 'uniform'): Stream {
  return population => {
    const random = new Random(seed + 1)
    const draw = drawOf(kind, population)
    const { flagKeys } = population.filled
    return many(requestsMin, () => {
      const body = context(draw(random), random)
      return post(`/flags/${random.of(flagKeys)}/check`, body)
    })
  }
}

/** All flags of one company. */
export function allFlags(kind: 'zipf' | 'uniform'): Stream {
  return population => {
    const random = new Random(seed + 2)
    const draw = drawOf(kind, population)
    return many(requestsMin, () => post('/flags/check', context(draw(random), random)))
  }
}

/** Events of companies as drawn; one in a hundred is one of the thousand before it again. */
function events(population: Population, count: number): readonly string[] {
  const random = new Random(seed + 3)
  const draw = drawOf('zipf', population)
  const name = zipf(eventNames.length)
  const made: string[] = []
  for (let index = 0; index < count; index++) {
    if (index > 0 && random.next() < repeatedShare) {
      made.push(made[index - 1 - random.below(Math.min(1_000, index))]!)
      continue
    }
    const company = draw(random)
    const event = {
      event_type: 'track',
      // the mark is written after this text is: JSON would write it as an escape
      idempotency_key: `key-${index}-@`,
      body: {
        event: eventNames[name(random)],
        company: keysOf(company, random),
        ...(random.next() < namedShare ? { user: userKeys(company, random.below(usersPerCompany)) } : {}),
        traits: { source: `worker-${random.below(50)}`, ms: random.below(5_000) },
        quantity: 1 + random.below(9),
      },
    }
    made.push(JSON.stringify(event).replace('-@"', `-${tag}"`))
  }
  return made
}

export const singleEvents: Stream = population =>
  events(population, requestsMin).map(body => ({ method: 'POST', path: '/events', body }))

export function batches(size: number): Stream {
  return population => {
    const all = events(population, Math.max(requestsMin, 200 * size))
    return many(Math.floor(all.length / size), index => ({
      method: 'POST',
      path: '/event-batch',
      body: `{"events":[${all.slice(index * size, (index + 1) * size).join(',')}]}`,
    }))
  }
}

export const lookups: Stream = population => {
  const random = new Random(seed + 4)
  const draw = drawOf('zipf', population)
  return many(requestsMin, () => {
    const [[name, value]] = Object.entries(keysOf(draw(random), random)) as [[string, string]]
    return get(`/companies/lookup?${name}=${value}`)
  })
}

/** One company by its id. */
export const details: Stream = population => {
  const random = new Random(seed + 8)
  const draw = drawOf('zipf', population)
  return many(requestsMin, () => get(`/companies/${population.filled.companyIds[draw(random)]}`))
}

export const featureUsage: Stream = population => {
  const random = new Random(seed + 5)
  const draw = drawOf('zipf', population)
  return many(requestsMin, () =>
    get(`/feature-usage?company_id=${population.filled.companyIds[draw(random)]}&limit=50`),
  )
}

/** A known company, with a trait that mostly changes. */
export const upserts: Stream = population => {
  const random = new Random(seed + 6)
  const draw = drawOf('zipf', population)
  const all = companies(population.size)
  return many(requestsMin, () => {
    const { keys, name } = all[draw(random)]!
    return post('/companies', { keys: { slug: keys.slug }, name, traits: { seats: 1 + random.below(500) } })
  })
}
