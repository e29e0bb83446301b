// Memory that the main thread shares with its fronts. There is none where it is alone.
import type { MessagePort } from 'node:worker_threads'
import type { NamesChunk } from '../../entities/directory/name-reader.js'
import { BucketCells } from '../../wire/bucket-cells.js'
import { Editions } from '../../wire/editions.js'

export class FrontMemory {
  readonly editions = Editions.make()
  readonly buckets = BucketCells.make()
  /** Over which fronts get memory of the directory. */
  readonly ports = new Set<MessagePort>()

  /** Give memory of the directory to every front, which takes it when it first needs it. */
  readonly hand = (chunk: NamesChunk): void => {
    for (const port of this.ports) port.postMessage(chunk)
  }
}
