// `tollgate audit`: reads the audit log's hash chain from a running Tollgate and verifies it here.
import { type ChainedRow, ChainReader } from '../account/audit/chain.js'
import type { Client } from './client.js'
import { type Exit, exit, Failure, type Io } from './io.js'

const pageRows = 100

interface Head {
  readonly seq: number
  readonly hash: string
}

/** Print the end of the chain as `SEQ:HASH`. A copy kept elsewhere is later compared by `verify --head`. */
export async function auditHead(client: Client, io: Io): Promise<Exit> {
  const { seq, hash } = await client.ask<Head>('GET', '/audit-log/head')
  io.print(`${seq}:${hash}`)
  return exit.done
}

/**
 * Read the whole chain and find the first row that was altered, removed or inserted.
 *
 * head  an earlier output of `auditHead`. It reveals rows removed from the end, and a chain built anew.
 */
export async function auditVerify(client: Client, head: string | undefined, io: Io): Promise<Exit> {
  const known = head === undefined ? null : headOf(head)
  const last = await client.ask<Head>('GET', '/audit-log/head')
  const reader = new ChainReader()
  let heard = known === null || known.seq === 0
  for (;;) {
    const { seq } = reader.last
    const rows = await client.ask<ChainedRow[]>('GET', `/audit-log/chain?after=${seq}&limit=${pageRows}`)
    for (const row of rows) {
      const fault = reader.fault(row)
      if (fault !== null) return broken(fault, io)
      if (known?.seq === row.seq) {
        if (known.hash !== row.hash) return broken(`row ${row.seq} is not the one whose hash was kept`, io)
        heard = true
      }
    }
    if (rows.length < pageRows || reader.last.seq >= last.seq) break
  }
  if (reader.last.seq < last.seq) return broken(`rows from ${reader.last.seq + 1} on were removed`, io)
  if (reader.unexplained !== null) return broken(reader.unexplained, io)
  if (!heard) return broken(`rows up to ${known!.seq} were there, and ${reader.last.seq} are left`, io)
  io.print(`${reader.last.seq} rows, each as it was written; the last has the hash`)
  io.print(`${reader.last.seq}:${reader.last.hash}`)
  return exit.done
}

function broken(fault: string, io: Io): Exit {
  io.print(fault)
  return exit.findings
}

function headOf(text: string): Head {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? []
  if (hash === undefined) throw new Failure('--head: expected SEQ:HASH, as `tollgate audit head` prints it')
  return { seq: Number(seq), hash }
}
