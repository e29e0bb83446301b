// Connections whose statements pass a gate first, so that environments share a store fairly. What uses them sees none of it.
import type { Sql } from 'postgres'
import type { ClickHouse } from './clickhouse.js'

/** Where statements wait for their turn; resolves with what ends it. */
export interface Gate {
  enter(group: string): Promise<() => void>
}

/** The part of the driver's statement that is not in its types. */
interface Statement extends Promise<unknown> {
  /** Called when the statement is to be sent. */
  handler: (statement: Statement) => void
  reject(error: unknown): void
  cursor: unknown
}

/**
 * A pool whose statements and transactions each take a place while they run. Pieces of statements, values and names take
 * none; nor do statements of a transaction, which has one already. Cursors are refused: nothing tells when one ends.
 *
 * errors  those of the gate, as the statement's rejection; nothing was sent then.
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

/** ClickHouse whose statements each take a place until their answer begins or is there; inserts of rows take none. */
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

/** A caller who takes an answer slowly keeps nobody waiting. */
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

/** A statement that waits for its turn when it is to be sent; anything else as it is. */
function waiting<T>(made: T, gate: Gate, group: string): T {
  if (!(made instanceof Promise)) return made
  const statement = made as unknown as Statement
  const send = statement.handler
  statement.handler = () => {
    gate.enter(group).then(
      leave => {
        // the driver's own `then` would send it a second time
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
