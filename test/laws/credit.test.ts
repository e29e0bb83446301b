// Laws of the credit core over random histories: conservation, replay, sweeps, split draws, order,
// interleavings.

import t from 'tap'
import { burn, firstToBurn, inBurnOrder, usable } from '../../src/core/credits/burn-order.js'
import type { GrantState } from '../../src/core/model/account-state.js'
import { lesser } from '../../src/core/values/amount.js'
import { debtIn, isSame, type World } from '../core/credit-world.js'
import { seed, times } from '../random.js'
import { History, historyWith, type Random, randomOf } from './credit-history.js'

const runs = times(120)
const stepsPerRun = 200
t.setTimeout(Math.max(120_000, runs * 500))
t.comment(`seed ${seed}, ${runs} histories of ${stepsPerRun} operations`)

t.test(
  'CR-88 credits are conserved after every operation of a random history, and replay gives the same account',
  async t => {
    let operations = 0
    for (let run = 0; run < runs; run++) {
      const history = new History(randomOf(seed + run))
      try {
        for (let step = 0; step < stepsPerRun; step++) {
          history.step()
          operations++
        }
        history.checkReplay()
      } catch (error) {
        t.fail(`seed ${seed + run}: ${(error as Error).message}`, { history: history.told.slice(-12) })
        return
      }
    }
    t.equal(operations, runs * stepsPerRun)
    t.comment(
      `last history: ${new Set(History.seen).size} kinds of effects: ${[...History.seen].sort().join(' ')}`,
    )
  },
)

t.test('CR-44 time applied in many steps or in one gives the same effects and the same account', async t => {
  let compared = 0
  for (let run = 0; run < Math.max(50, runs / 3); run++) {
    const random = randomOf(seed * 3 + run)
    const history = new History(random)
    for (let step = 0; step < 60; step++) history.step()
    const problem = history.sweepsDiffer()
    compared++
    if (problem !== null) return t.fail(`seed ${seed * 3 + run}: ${problem}`)
  }
  t.ok(compared >= 50)
})

t.test('burning 7 is burning 3 and then 4 (CR-20)', async t => {
  for (let run = 0; run < Math.max(200, runs); run++) {
    const random = randomOf(seed * 5 + run)
    const { once, twice } = historyWith(random).splitDraw()
    if (!isSame(once, twice)) return t.fail(`seed ${seed * 5 + run}: a split draw differs`)
  }
  t.pass('a draw and its halves leave every grant the same')
})

t.test('CR-21…23 grants burn in the order that sorting them by the rule gives', async t => {
  for (let run = 0; run < Math.max(300, runs); run++) {
    const random = randomOf(seed * 11 + run)
    const { grants, strategy, nowMs } = anyGrants(random)
    const need = BigInt(1 + random(random(2) === 0 ? 200 : 2_000)) * 1_000_000_000n
    const order = inBurnOrder({ grants, order: null }, strategy)
    const burnt = burn(order, need, nowMs).map(({ grant, amount }) => [grant.seq, amount])
    if (!isSame(burnt, burnInOrder(grants, strategy, need, nowMs))) {
      return t.fail(`seed ${seed * 11 + run}: ${strategy} burns in another order`)
    }
    if (firstToBurn(order, nowMs)?.seq !== burnt[0]?.[0])
      return t.fail(`seed ${seed * 11 + run}: ${strategy} begins with another grant`)
  }
  t.pass('the order is the rule’s')
})

/** Grants, oldest first, with many equal ends and a few that do not count. Mostly few, sometimes hundreds. */
function anyGrants(random: Random) {
  const nowMs = 1_000_000
  const reasons = ['plan', 'free', 'purchased', 'adjustment', 'rollover'] as const
  const grants = Array.from({ length: random(random(8) === 0 ? 300 : 20) }, (_, i): GrantState => {
    const remaining = BigInt(random(12)) * 1_000_000_000n
    return {
      seq: i + 1,
      reason: reasons[random(reasons.length)]!,
      quantity: remaining,
      remaining,
      held: 0n,
      createdAtMs: i,
      validFromMs: random(10) === 0 ? nowMs + 1 : 0,
      expiresAtMs: random(3) === 0 ? null : nowMs + (random(40) === 0 ? 2 ** 45 : 0) + random(4) * 1000,
      planGrantId: null,
      licence: null,
      closed: null,
    }
  })
  return { grants, nowMs, strategy: strategies[random(strategies.length)]! }
}

const strategies = [
  'plan_first_then_credit_bundles_first_in_first_out',
  'first_in_first_out',
  'last_in_first_out',
  'expiration_priority',
] as const

/** The rule once more, as a single sort (CR-21…23). */
function burnInOrder(
  grants: readonly GrantState[],
  strategy: (typeof strategies)[number],
  need: bigint,
  nowMs: number,
) {
  const key = (grant: GrantState): readonly [number, number, number] => {
    if (grant.reason === 'adjustment') return [0, 0, grant.seq]
    if (grant.reason === 'rollover') return [1, 0, grant.seq]
    if (strategy === 'last_in_first_out') return [2, 0, -grant.seq]
    if (strategy === 'expiration_priority')
      return [2, grant.expiresAtMs ?? Number.POSITIVE_INFINITY, grant.seq]
    return [strategy === 'first_in_first_out' || grant.reason === 'plan' ? 2 : 3, 0, grant.seq]
  }
  const before = (a: GrantState, b: GrantState): number => {
    const [x, y] = [key(a), key(b)]
    return x[0] - y[0] || (x[1] === y[1] ? 0 : x[1] - y[1]) || x[2] - y[2]
  }
  const burnt: [number, bigint][] = []
  let missing = need
  for (const grant of grants.filter(grant => usable(grant, nowMs)).sort(before)) {
    const amount = lesser(grant.remaining, missing)
    if (amount > 0n) burnt.push([grant.seq, amount])
    missing -= amount
  }
  return burnt
}

t.test('CR-94 the order of draws does not change what is left, nor the sum that is uncovered', async t => {
  for (let run = 0; run < Math.max(200, runs); run++) {
    const random = randomOf(seed * 7 + run)
    const { forwards, shuffled } = historyWith(random).drawsInTwoOrders()
    if (!isSame(forwards, shuffled)) return t.fail(`seed ${seed * 7 + run}: the order of draws matters`)
  }
  t.pass('draws commute')
})

/** One client's operations in order. */
type Client = readonly ((world: World) => void)[]

/** Every way to interleave clients, each keeping its own order. */
function* interleavings(clients: readonly Client[]): Generator<readonly ((world: World) => void)[]> {
  if (clients.every(client => client.length === 0)) yield []
  for (const [i, client] of clients.entries()) {
    if (client.length === 0) continue
    const rest = clients.map((other, j) => (j === i ? other.slice(1) : other))
    for (const tail of interleavings(rest)) yield [client[0]!, ...tail]
  }
}

/** Runs every interleaving on a fresh world of 100 credits and returns how many there were. */
function tryAll(clients: readonly Client[], limit: bigint | null, check: (world: World) => void): number {
  let count = 0
  for (const order of interleavings(clients)) {
    const world = historyWith(randomOf(1)).concurrent(limit)
    for (const operation of order) {
      operation(world)
      world.check()
    }
    check(world)
    count++
  }
  return count
}

const credits = (count: number): bigint => BigInt(count) * 1_000_000_000n

t.test('CR-90 no interleaving of concurrent operations oversells', async t => {
  const draw = (cost: number) => (world: World) => world.draw(credits(cost))
  const reserveAndSettle = (name: string, hold: number, cost: number): Client => [
    world => world.reserve(name, credits(hold)),
    world => world.settle(name, credits(cost)),
  ]
  const lease = (amount: number, cost: number): Client => [
    world => world.acquire(credits(amount)),
    world => world.commit(credits(cost)),
    world => world.release(),
  ]
  const balanced = (world: World): void => {
    // Every requested cost is either paid or reported as uncovered, and nothing stays held.
    if (world.consumed + world.uncovered !== world.asked) throw new Error('cost neither paid nor told')
    if (world.consumed > credits(100) + (world.limit ?? 0n)) throw new Error('oversold')
  }
  const cases: readonly (readonly [string, readonly Client[], bigint | null])[] = [
    ['two reservations of 60', [reserveAndSettle('a', 60, 60), reserveAndSettle('b', 60, 30)], null],
    ['three reservations of 40', ['a', 'b', 'c'].map(name => reserveAndSettle(name, 40, 50)), null],
    ['a lease, a reservation and a draw', [lease(80, 90), reserveAndSettle('a', 30, 45), [draw(25)]], null],
    ['two leases are one', [lease(70, 40), lease(70, 40)], null],
    ['six draws of 30', Array.from({ length: 6 }, () => [draw(30)]), null],
    ['past zero to a floor', [lease(110, 60), reserveAndSettle('a', 30, 60), [draw(70)]], credits(20)],
  ]
  for (const [name, clients, limit] of cases) {
    const count = tryAll(clients, limit, balanced)
    t.ok(count > 1, `${name}: ${count} interleavings`)
  }
})

t.test('CR-90 twenty reservations of 75 on 500: six are held, fourteen refused', async t => {
  const world = historyWith(randomOf(1)).concurrent(null, credits(500))
  for (let i = 0; i < 20; i++) world.reserve(`r${i}`, credits(75))
  t.equal(world.refused, 14)
  t.equal(world.figures().reserved, credits(450))
  t.equal(debtIn(world), 0n)
})
