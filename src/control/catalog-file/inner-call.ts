// Calls of other operations on behalf of a request: in a transaction of their own, or inside a given one.
import type { Sql } from 'postgres'
import type { Call } from '../../kit/call.js'
import type { Clock } from '../../kit/services.js'

/** The parts that differ from the request. */
interface Inner<Body, Query> {
  readonly params?: Readonly<Record<string, string>>
  readonly body?: Body
  readonly query?: Query
}

/** The same request for another operation. It makes its own transaction. */
export function derived<Body = undefined, Query = Readonly<Record<string, never>>>(
  call: Call<unknown, unknown>,
  inner: Inner<Body, Query>,
): Call<Body, Query> {
  return Object.create(call, {
    params: { value: inner.params ?? {} },
    body: { value: inner.body },
    query: { value: inner.query ?? {} },
  }) as Call<Body, Query>
}

/** The same request for another operation, inside a transaction: what it changes is announced with the whole. */
export function inside<Body = undefined, Query = Readonly<Record<string, never>>>(
  call: Call<unknown, unknown>,
  tx: Sql,
  inner: Inner<Body, Query>,
): Call<Body, Query> {
  const { services } = call
  const catalogs = {
    get: (id: string) => services.catalogs.get(id),
    change: <T>(_scope: unknown, work: (sql: Sql) => Promise<T>) => work(tx),
  }
  return Object.create(derived(call, inner), {
    services: { value: { ...services, sql: tx, catalogs } },
  }) as Call<Body, Query>
}

/** The same request with a clock that never shows one instant twice, so that what is made later sorts later. */
export function strictly<Body, Query>(call: Call<Body, Query>): Call<Body, Query> {
  const { clock } = call.services
  let last = 0
  const ticking: Clock = {
    wall() {
      last = Math.max(last + 1, clock.wall())
      return last
    },
    now: id => clock.now(id),
    testClock: id => clock.testClock(id),
    setTestClock: (...given) => clock.setTestClock(...given),
  }
  return Object.create(call, { services: { value: { ...call.services, clock: ticking } } }) as Call<
    Body,
    Query
  >
}
