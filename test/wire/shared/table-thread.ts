// A thread that reads a table while another writes it: entries that are always there are always found, their two values
// are of one write, and no value is older than one that was read before.
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { handedChunks } from '../../../src/wire/shared/segments.js'
import { type SharedTable, Table } from '../../../src/wire/shared/table.js'

const { shared, chunks, port, state, kept } = workerData as {
  readonly shared: SharedTable
  readonly chunks: SharedArrayBuffer[]
  readonly port: MessagePort
  /** Whether to end; threads that have begun. */
  readonly state: Int32Array
  /** Keys from 0 that are always there. */
  readonly kept: number
}
const take = () => (receiveMessageOnPort(port)?.message as SharedArrayBuffer | undefined) ?? null
const table = Table.open(shared, handedChunks(chunks, take))
const seen = new Int32Array(kept)
let reads = 0
let wrong: string | null = null
Atomics.add(state, 1, 1)
while (Atomics.load(state, 0) === 0 && wrong === null) {
  const key = reads++ % kept
  if (!table.find(key, key, 2)) wrong = `key ${key} is not found`
  else if (table.fifth !== table.sixth) wrong = `key ${key} has values of two writes`
  else if (table.fifth < seen[key]!) wrong = `key ${key} is older than it was`
  seen[key] = table.fifth
  const other = kept + ((reads * 7_919) % 20_000)
  if (table.find(other, other, 2) && table.fifth !== table.sixth)
    wrong = `key ${other} has values of two writes`
}
port.close()
parentPort!.postMessage({ reads, wrong })
