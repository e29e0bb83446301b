// Random bodies of events as clients write them: mostly of the usual shape, some a little off, some broken.
import type { Random } from '../random.js'

/** Pieces that stand where a value is expected. */
const oddValues = [
  '1.0', '1.50', '-0', '0', '1e3', '01', '-', '+1', '1.', '.5', '12345678901234567890', '0.1', '-7', '1e400', '9007199254740993',
  'true', 'false', 'null', 'nul', '"a\\u0000b"', '"\\ud800"', '"\\ud83d\\ude00"', '"é"', '"日本"', '"a\\"b"', '"\\x"', '"a\tb"', '""',
  '{}', '[]', '[1,2,{"a":null}]', '{"a":{"b":1,"b":2}}', '{"2":1,"1":2}', '{"__proto__":1}', '{"a":1,}', '[1 ,2]', '{"b":1,"a":1,"b":3}', '"', '',
] // biome-ignore format: a table

const names = ['event', 'company', 'user', 'quantity', 'traits', 'lease_id', 'reservation_id', 'note', '1']
const outer = [
  'event_type',
  'body',
  'idempotency_key',
  'sent_at',
  'backfill',
  'trusted_client_clock',
  'api_key',
  'x',
]

/** One event as text. */
export function eventText(random: Random): string {
  const blank = random.chance(0.2) ? () => random.pick(['', '', ' ', '\n', '\t\r']) : () => ''
  const join = (members: readonly string[]) =>
    `{${blank()}${members.join(`${blank()},${blank()}`)}${blank()}}`
  const member = (name: string, value: string) => `"${name}"${blank()}:${blank()}${value}`
  const word = () =>
    `"${random.pick(['a', 'api_call', 'x y', 'k'.repeat(255), 'k'.repeat(256), 'comp_22222222222', 'zero', 'one'])}"`
  const keys = () =>
    join(
      Array.from({ length: random.chance(0.9) ? 1 : random.below(6) }, () =>
        member(
          random.pick(['id', 'slug', 'mail', 's2', '7', 'slug']),
          random.chance(0.9) ? word() : random.pick(oddValues),
        ),
      ),
    )
  const traits = () =>
    join(
      Array.from({ length: random.below(5) }, () =>
        member(
          random.pick(['plan', 'seats', 'n', 'nn', '5', 'a\\n', 'é']),
          random.chance(0.5) ? word() : random.pick(oddValues),
        ),
      ),
    )
  const values: Readonly<Record<string, () => string>> = {
    event: word,
    company: keys,
    user: keys,
    quantity: () => random.pick(['1', '2', '17', '-3', '0', '999999999', '1000000000', 'null', '1.5']),
    traits,
    event_type: () =>
      random.pick(['"track"', '"track"', '"track"', '"track"', '"identify"', '"nothing"', '1']),
    idempotency_key: word,
    sent_at: () =>
      random.pick(['"2026-03-01T00:00:00Z"', '"2026-02-30T00:00:00Z"', 'null', '"soon"', '"2026-03-01"']),
    backfill: () => random.pick(['true', 'false', 'null']),
    trusted_client_clock: () => random.pick(['true', 'false', 'null']),
  }
  const value = (name: string) => (random.chance(0.03) ? random.pick(oddValues) : (values[name] ?? word)())
  const pick = (usual: readonly string[], any: readonly string[], shares: readonly number[]) => {
    const chosen = usual.filter((_, i) => random.chance(shares[i]!))
    if (random.chance(0.05)) chosen.push(random.pick(any))
    return random.chance(0.3) ? chosen.reverse() : chosen
  }
  const body = () =>
    join(pick(names.slice(0, 5), names, [0.98, 0.9, 0.5, 0.5, 0.3]).map(name => member(name, value(name))))
  const members = pick(['event_type', 'body', 'idempotency_key', 'sent_at'], outer, [0.98, 0.99, 0.5, 0.2])
  return join(members.map(name => member(name, name === 'body' ? body() : value(name))))
}

/** The same with some bytes changed, as a broken client or network would. */
export function mutated(random: Random, text: string): Buffer {
  const bytes = Buffer.from(text)
  for (let n = 1 + random.below(3); n > 0 && bytes.length > 0; n--) {
    const at = random.below(bytes.length)
    if (random.chance(0.5))
      bytes[at] = random.pick([0x22, 0x7b, 0x7d, 0x2c, 0x3a, 0x5c, 0x20, 0x30, 0x00, 0x5b, 0x5d, 0x31])
    else bytes[at] = random.below(256)
  }
  return random.chance(0.2) ? bytes.subarray(0, random.below(bytes.length)) : bytes
}
