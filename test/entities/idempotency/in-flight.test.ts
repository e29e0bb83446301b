// In-flight claims, against a Map.
import t from 'tap'
import { InFlightClaims } from '../../../src/entities/idempotency/in-flight.js'
import { Random } from '../../random.js'

t.test('EV-27: tickets of what is under way answer as a Map does', async t => {
  const random = new Random()
  t.comment(`TOLLGATE_SEED=${random.seed}`)
  const claims = new InFlightClaims()
  const map = new Map<number, Promise<void>>()
  const closed: number[] = []
  let wrong = 0
  for (let i = 0; i < 60_000; i++) {
    // many at once, then few; the oldest stays open longest
    if (random.chance(i % 20_000 < 10_000 ? 0.6 : 0.3)) {
      const outcome = Promise.resolve()
      const ticket = claims.open(outcome)
      if (ticket === 0 || map.has(ticket)) wrong++
      map.set(ticket, outcome)
    } else if (map.size > 1) {
      const open = [...map.keys()].slice(1, 200)
      const gone = random.pick(open)
      claims.close(gone)
      claims.close(gone)
      map.delete(gone)
      closed.push(gone)
    }
    const asked =
      random.chance(0.5) && closed.length > 0 ? random.pick(closed) : ([...map.keys()].at(-1) ?? 0)
    if (claims.get(asked) !== (map.get(asked) ?? null) || claims.size !== map.size) wrong++
    if (claims.get(0) !== null) wrong++
  }
  for (const [ticket, outcome] of map) if (claims.get(ticket) !== outcome) wrong++
  t.equal(wrong, 0)
})
