// Limits the size of a page of companies or users in bytes. Entities are read from their actors a few at a time and
// weighed before they are written, so that large ones cannot fill the memory.
import { inTurn } from '../entities/turns/many-turns.js'
import { ServiceError } from '../errors.js'

/**
 * Estimated bytes of one page. A single entity always fits, because it has bounds of its own
 * (core/company/entity-bounds.ts).
 */
const pageBytesMax = 33_554_432
/** Entities read first, to estimate the size of the others. */
const first = 10
/** If the first ones are smaller on average, all others are read at once. */
const smallBytes = 65_536
/** Entities that are asked for in one turn of an environment, and read for one token (security H3). source: decision */
const together = 25

/** The request that a page is read for. */
interface PagePlace {
  readonly environment: { readonly id: string }
  charge?(tokens: number): void
}

/**
 * Read every entity of a page.
 *
 * place    whose page it is: its environment takes turns, and its key is charged one token for every 25 entities.
 * weigh    approximate bytes of one entity.
 * returns  in the order of the ids.
 * errors   query_invalid (400) when the page is too large, with the advice to ask for fewer; rate_limited (429).
 */
export async function askForPage<T>(
  place: PagePlace,
  ids: readonly string[],
  ask: (id: string) => Promise<T>,
  weigh: (one: T) => number,
): Promise<T[]> {
  const tokens = Math.floor(ids.length / together)
  if (tokens > 0) place.charge?.(tokens)
  const page: T[] = []
  let bytes = 0
  while (page.length < ids.length) {
    const isSmall = page.length > 0 && bytes / page.length < smallBytes
    const some = ids.slice(page.length, isSmall ? ids.length : page.length + first)
    const chunks = Array.from({ length: Math.ceil(some.length / together) }, (_, n) =>
      some.slice(n * together, (n + 1) * together),
    )
    const read = await inTurn(place.environment.id, chunks, chunk => Promise.all(chunk.map(ask)))
    for (const one of read.flat()) {
      page.push(one)
      bytes += weigh(one)
    }
    if (bytes > pageBytesMax && ids.length > 1) throw tooHeavy(Math.max(1, Math.floor(page.length / 2)))
  }
  return page
}

function tooHeavy(fitting: number): ServiceError {
  return new ServiceError(
    'query_invalid',
    `limit: the page would have more than ${pageBytesMax} bytes; ask for fewer at once (${fitting})`,
  )
}

/** Bytes of an entity's texts in its view: each key and trait appears twice, plus fixed members. */
export function textBytes(texts: readonly (readonly [name: string, value: string, ...unknown[]])[]): number {
  let bytes = 0
  for (const [name, value] of texts) bytes += 700 + 3 * (name.length + value.length)
  return bytes
}
