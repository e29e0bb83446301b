// Texts as JSON writes them, remembered where they come with every answer.

/** Names in the cache, at most; definitions have fewer, and a forgotten one is quoted again. */
const namesMax = 16_384
const names = new Map<string, string>()

/** The JSON of an id or a key of a definition. */
export function quotedName(name: string): string {
  let json = names.get(name)
  if (json === undefined) {
    json = JSON.stringify(name)
    if (names.size >= namesMax) names.clear()
    names.set(name, json)
  }
  return json
}

/** Instants remembered: the ends of days, weeks, months and billing periods are few at a time. */
const places = 64
const instants = new Float64Array(places).fill(Number.NaN)
const texts: string[] = new Array(places).fill('')

/** RFC 3339 UTC with milliseconds (decision 9). */
export function instantText(ms: number): string {
  const place = Math.imul(Math.floor(ms / 1_000), 0x9e3779b1) >>> 26
  if (instants[place] !== ms) {
    texts[place] = new Date(ms).toISOString()
    instants[place] = ms
  }
  return texts[place]!
}
