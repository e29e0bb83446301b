// How an extra front is started.
import type { MessagePort } from 'node:worker_threads'
import type { Port } from './port.js'
import type { RecordRates } from './record-budget.js'
import type { SharedTable } from './shared/table.js'

/** A front's task from the main thread, at its start. */
export interface FrontTask {
  readonly port: Port
  readonly options: FrontOptions
}

/** A table as another thread opens it, with its memory until now. */
export interface LentTable {
  readonly table: SharedTable
  readonly chunks: SharedArrayBuffer[]
}

/** The directory, for a thread that finds entities in it. */
export interface SharedNames {
  readonly pairs: LentTable
  readonly entities: LentTable
  readonly hashKey: readonly [number, number]
  /** The key epoch. */
  readonly epochs: Int32Array
}

/** Settings, and facts that are the same for all fronts. */
export interface FrontSettings {
  readonly host: string
  readonly listenOn: number
  /** Bounds of the connections of all fronts. */
  readonly connections: { readonly total: number; readonly perAddress: number }
  /** Bytes of bodies that may be on their way to the main thread. */
  readonly bodiesBytesMax: number
  /** Whether it answers checks itself. */
  readonly answers: boolean
  /** Version counters (version-counters.ts). */
  readonly changes: SharedArrayBuffer
  /** The monotonic clock at the zero of the main thread's `performance.now()`, ms. */
  readonly zeroMs: number
  /** Earliest possible present, epoch ms. */
  readonly floorMs: number
  readonly apiKeyHeaders: readonly string[]
  readonly environmentHeaders: readonly string[]
  /** Proxies in front, whose entries of X-Forwarded-For are believed. */
  readonly trustProxy: number
  readonly corsOrigins: readonly string[] | null
  readonly slowRequestMs: number
  /** Checks answered from memory that this front records one by one. */
  readonly records: RecordRates
}

/** The options of one front at its start. */
export interface FrontOptions extends FrontSettings {
  readonly index: number
  /** Threads that keep answers: the fronts and the main thread. */
  readonly threads: number
  /** Paths that take WebSocket connections, with the bytes of their frames. */
  readonly sockets: readonly (readonly [path: string, frameBytesMax: number])[]
  /** One number for each front, which it raises while it lives. */
  readonly beats: SharedArrayBuffer
  readonly shards: number
  readonly names: SharedNames
  /** Memory that the directory gets later. */
  readonly chunks: MessagePort
  readonly editions: SharedArrayBuffer
  readonly buckets: SharedArrayBuffer
  readonly figures: SharedArrayBuffer
}

/** How often a front raises its number, ms. */
export const beatMs = 250
