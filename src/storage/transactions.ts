// Statements that each transaction of a pool begins with, and single statements as transactions.
import type { Sql, TransactionSql } from 'postgres'

/** Settings for the length of a transaction, as statements. */
export function setLocally(settings: Readonly<Record<string, number>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `set local ${name} = ${value}`)
    .join('; ')
}

/** Run in one transaction. A rejection rolls back and is passed on. */
export async function inTransaction<T>(sql: Sql, work: (tx: Sql) => Promise<T>): Promise<T> {
  let result: { readonly value: T } | null = null
  // the driver types a transaction without the members that only a pool has
  await sql.begin(async tx => {
    result = { value: await work(tx as unknown as Sql) }
  })
  return (result as unknown as { readonly value: T }).value
}

type Work = (tx: TransactionSql) => unknown

interface Opening {
  /** First statements of every transaction; may be empty. */
  readonly all: string
  /** Further ones of those that may write; absent: none. */
  readonly writing?: string
}

/**
 * The same pool; its transactions begin with these statements. They are sent together with the first statement of the
 * transaction, so they cost no round trip. Where those that write have an opening, a single statement that writes is a
 * transaction, too.
 */
export function withOpening(sql: Sql, opening: Opening): Sql {
  const { all, writing = '' } = opening
  const begin = sql.begin as (options: string, work: Work) => Promise<unknown>
  const opened = (...given: readonly [Work] | readonly [string, Work]): Promise<unknown> => {
    const [options, work] = given.length === 1 ? ['', given[0]] : given
    const texts = [all, options.includes('read only') ? '' : writing].filter(text => text !== '')
    if (texts.length === 0) return begin(options, work)
    return begin(options, async tx => {
      const first = tx.unsafe(texts.join('; ')).execute()
      const made = work(tx)
      const result = await (Array.isArray(made) ? Promise.all(made) : made)
      await first
      return result
    })
  }
  const pool = Object.assign(sql, { begin: opened })
  return writing === '' ? pool : withOwnTransactions(pool)
}

/** Part of the driver's statement that its types lack. */
interface Statement extends Promise<unknown> {
  readonly strings: readonly string[]
  /** Called by the driver to send the statement. */
  handler: (statement: Statement) => void
  resolve: (result: unknown) => void
  reject: (error: unknown) => void
}

/** The same pool; each of its single statements that may write is a transaction. */
function withOwnTransactions(sql: Sql): Sql {
  const own = <T>(made: T): T => {
    if (made instanceof Promise && mayWrite(made as unknown as Statement))
      inTransactionOfItsOwn(sql, made as unknown as Statement)
    return made
  }
  const unsafe: Sql['unsafe'] = (...given) => own(sql.unsafe(...given))
  return new Proxy(sql, {
    apply: (target, self, given) => own(Reflect.apply(target, self, given)),
    get: (target, name) => (name === 'unsafe' ? unsafe : Reflect.get(target, name, target)),
  })
}

const writes = /\b(insert|update|delete|merge|truncate|nextval|setval)\b/i

function mayWrite({ strings }: Statement): boolean {
  const text = strings.join(' ')
  return !/^\s*(select|show|copy)\b/i.test(text) || writes.test(text)
}

/** When the statement is sent, it is sent in a transaction; its result is told once that is committed. */
function inTransactionOfItsOwn(sql: Sql, statement: Statement): void {
  const { resolve, reject } = statement
  statement.handler = () => {
    const done = sql.begin(
      tx =>
        new Promise((told, failed) => {
          statement.resolve = told
          statement.reject = failed
          // a statement of the transaction, never sent, leads to its connection
          ;(tx.unsafe('') as unknown as Statement).handler(statement)
        }),
    )
    done.then(resolve, reject)
  }
}
