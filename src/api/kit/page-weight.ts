// How many bytes a page of companies or users may come to. They are asked of their actors a few at a time, and counted
// before they are written, so that no page of large ones fills the memory (security 7).
import { ServiceError } from '../../errors.js'

/** Bytes of a page, estimated. One entity alone is always less: it has bounds of its own (core/entity-bounds.ts). */
const pageBytesMax = 33_554_432
/** Asked first, to see how large they are. */
const first = 10
/** As long as an average one is smaller, the rest is asked at once. */
const smallBytes = 65_536

/**
 * Ask for each of a page.
 *
 * weigh    bytes that one comes to, about.
 * returns  in the order of the ids.
 * errors   query_invalid (400) when they come to too many bytes together, and says to ask for fewer.
 */
export async function askForPage<T>(
  ids: readonly string[],
  ask: (id: string) => Promise<T>,
  weigh: (one: T) => number,
): Promise<T[]> {
  const page: T[] = []
  let bytes = 0
  while (page.length < ids.length) {
    const isSmall = page.length > 0 && bytes / page.length < smallBytes
    const some = ids.slice(page.length, isSmall ? ids.length : page.length + first)
    for (const one of await Promise.all(some.map(ask))) {
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

/** Bytes of what a view shows of an entity's texts: each of its keys and traits twice, beside what is said of them. */
export function textBytes(texts: readonly (readonly [name: string, value: string, ...unknown[]])[]): number {
  let bytes = 0
  for (const [name, value] of texts) bytes += 700 + 3 * (name.length + value.length)
  return bytes
}
