// Which representation of credits: bigint, a number while it is safe and a string beyond, or two limbs?
// Each takes from 64 grants as a draw over all of them does, sums them as figures do, and is written as JSON.
import { cpuUsage } from 'node:process'
import { costOf, encodeAmount } from '../../src/core/values/amount.js'

const grants = 64
let sink = 0

/** Median of runs, in nanoseconds of processor time per call: other processes do not count. */
function bench(name: string, work: () => number): void {
  for (let i = 0; i < 20_000; i++) sink += work()
  const times: number[] = []
  for (let run = 0; run < 15; run++) {
    const begun = cpuUsage()
    for (let i = 0; i < 5_000; i++) sink += work()
    times.push((cpuUsage(begun).user * 1_000) / 5_000)
  }
  times.sort((a, b) => a - b)
  console.log(`${name.padEnd(64)} ${times[7]!.toFixed(0).padStart(7)} ns`)
}

const sizes = [
  ['credits', 1_000_000_000n],
  ['ten billion credits', 10_000_000_000_000_000_000n],
] as const

for (const [size, each] of sizes) {
  const left = Array.from({ length: grants }, (_, i) => each + BigInt(i))
  const all = each * 200n
  const take = (): (readonly [bigint, bigint])[] => {
    let need = all
    return left.map(amount => {
      const part = amount < need ? amount : need
      need -= part
      return [part, amount - part] as const
    })
  }
  bench(`bigint: take from 64 grants of ${size}`, () => take().length)
  bench(`bigint: sum 64 grants of ${size}`, () =>
    left.reduce((sum, amount) => sum + amount, 0n) > 0n ? 1 : 0,
  )
  bench(
    `bigint: take and write as JSON, ${size}`,
    () => JSON.stringify(take().map(([a, b]) => [encodeAmount(a), encodeAmount(b)])).length,
  )
}

type Mixed = number | string
const mixed = (amount: bigint): Mixed => encodeAmount(amount)
const safe = Number.MAX_SAFE_INTEGER
function minus(a: Mixed, b: Mixed): Mixed {
  if (typeof a === 'number' && typeof b === 'number') {
    const difference = a - b
    if (difference <= safe && difference >= -safe) return difference
  }
  return mixed(BigInt(a) - BigInt(b))
}
const plus = (a: Mixed, b: Mixed): Mixed => (b === 0 ? a : minus(a, minus(0, b)))
const less = (a: Mixed, b: Mixed): boolean =>
  typeof a === 'number' && typeof b === 'number' ? a < b : BigInt(a) < BigInt(b)

for (const [size, each] of sizes) {
  const left = Array.from({ length: grants }, (_, i) => mixed(each + BigInt(i)))
  const all = mixed(each * 200n)
  const take = (): (readonly [Mixed, Mixed])[] => {
    let need = all
    return left.map(amount => {
      const part = less(amount, need) ? amount : need
      need = minus(need, part)
      return [part, minus(amount, part)] as const
    })
  }
  bench(`number or string: take from 64 grants of ${size}`, () => take().length)
  bench(`number or string: sum 64 grants of ${size}`, () => (left.reduce(plus, 0) === 0 ? 0 : 1))
  bench(`number or string: take and write as JSON, ${size}`, () => JSON.stringify(take()).length)
}

/** Whole credits and nanos, 0…999_999_999. */
type Limbs = readonly [whole: number, nanos: number]
function minusLimbs(a: Limbs, b: Limbs): Limbs {
  const nanos = a[1] - b[1]
  return nanos < 0 ? [a[0] - b[0] - 1, nanos + 1e9] : [a[0] - b[0], nanos]
}
function plusLimbs(a: Limbs, b: Limbs): Limbs {
  const nanos = a[1] + b[1]
  return nanos >= 1e9 ? [a[0] + b[0] + 1, nanos - 1e9] : [a[0] + b[0], nanos]
}
const lessLimbs = (a: Limbs, b: Limbs): boolean => a[0] < b[0] || (a[0] === b[0] && a[1] < b[1])

for (const [size, each] of sizes) {
  const whole = Number(each / 1_000_000_000n)
  const left = Array.from({ length: grants }, (_, i): Limbs => [whole, i])
  const all: Limbs = [whole * 200, 0]
  const take = (): (readonly [Limbs, Limbs])[] => {
    let need = all
    return left.map(amount => {
      const part = lessLimbs(amount, need) ? amount : need
      need = minusLimbs(need, part)
      return [part, minusLimbs(amount, part)] as const
    })
  }
  bench(`two limbs: take from 64 grants of ${size}`, () => take().length)
  bench(`two limbs: sum 64 grants of ${size}`, () => left.reduce(plusLimbs, [0, 0])[1])
  bench(`two limbs: take and write as JSON, ${size}`, () => JSON.stringify(take()).length)
}

// Cost of pricing an event: rates with up to nine digits take the quick way.
for (const rate of [1, 2.5, 0.000002, 1 / 3]) {
  let quantity = 0
  bench(`cost of a quantity at ${rate}`, () => (costOf(++quantity & 1023, rate) > 0n ? 1 : 0))
}
if (sink === 0.5) console.log(sink)
