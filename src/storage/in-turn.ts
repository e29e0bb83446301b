// Wraps connections so that each statement passes a gate, which shares a store fairly among environments.
import type { Sql } from 'postgres'
import type { ClickHouse } from './clickhouse.js'

/** A queue for statements. `enter` resolves, when it is a statement's turn, with the function that ends the turn. */
export interface Gate {
  enter(group: string): Promise<() => void>
}

/** Part of the driver's statement that its types lack. */
interface Statement extends Promise<unknown> {
  /** Called by the driver to send the statement. */
  handler: (statement: Statement) => void
  reject(error: unknown): void
  cursor: unknown
}

/**
 * A pool whose statements and transactions each occupy a place of the gate while they run. Fragments, values and
 * names occupy none, nor do statements within a transaction. Cursors are refused, because their end is unknown.
 *
 * errors  those of the gate, as rejection of the statement, which was not sent then.
 */
export function sqlInTurn(sql: Sql, gate: Gate, group: string): Sql {
  const begin = (...given: Parameters<Sql['begin']>): Promise<unknown> =>
    inTurn(gate, group, () => sql.begin(...given))
  const unsafe: Sql['unsafe'] = (...given) => waiting(sql.unsafe(...given), gate, group)
  return new Proxy(sql, {
    apply: (target, self, given) => waiting(Reflect.apply(target, self, given), gate, group),
    get: (target, name) =>
      name === 'begin' ? begin : name === 'unsafe' ? unsafe : Reflect.get(target, name, target),
  })
}

/** A ClickHouse whose statements occupy a place until their response arrives or begins. Inserts occupy none. */
export function clickHouseInTurn(clickhouse: ClickHouse, gate: Gate, group: string): ClickHouse {
  return {
    ...clickhouse,
    select: (...given) => inTurn(gate, group, () => clickhouse.select(...given)),
    command: (...given) => inTurn(gate, group, () => clickhouse.command(...given)),
    bytes: (sql, parameters) => bytesInTurn(clickhouse.bytes(sql, parameters), gate, group),
  }
}

async function inTurn<T>(gate: Gate, group: string, work: () => Promise<T>): Promise<T> {
  const leave = await gate.enter(group)
  try {
    return await work()
  } finally {
    leave()
  }
}

/** Occupies a place for the first piece only, so that a slow reader blocks no one. */
async function* bytesInTurn(
  pieces: AsyncGenerator<Buffer>,
  gate: Gate,
  group: string,
): AsyncGenerator<Buffer> {
  const first = await inTurn(gate, group, () => pieces.next())
  if (first.done) return
  try {
    yield first.value
    yield* pieces
  } finally {
    await pieces.return(undefined)
  }
}

/** Make a statement wait for its turn before it is sent; other values are returned unchanged. */
function waiting<T>(made: T, gate: Gate, group: string): T {
  if (!(made instanceof Promise)) return made
  const statement = made as unknown as Statement
  const send = statement.handler
  statement.handler = () => {
    gate.enter(group).then(
      leave => {
        // the driver's own `then` would send the statement again
        Promise.prototype.then.call(statement, leave, leave)
        send(statement)
      },
      error => statement.reject(error),
    )
  }
  statement.cursor = () => {
    throw new Error('A statement that waits for its turn has no cursor')
  }
  return made
}
