// Shards that come and go while ClickHouse does not answer: a shard that is given up waits for nothing but its own
// insert, and one that comes back is projected when that insert has ended.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { MessageChannel } from 'node:worker_threads'
import t from 'tap'
import { nodeDisk } from '../../src/journal/disk.js'
import { openFileJournal } from '../../src/journal/file-journal.js'
import type { InsertOptions } from '../../src/storage/clickhouse.js'
import { Positions } from '../../src/wire/positions.js'
import type { ProjectorNotice, ProjectorRequest } from '../../src/wire/projector-messages.js'
import type { ChunkStore } from '../../workers/projector/chunks.js'
import { runProjectors } from '../../workers/projector/projector.js'
import type { RowStore } from '../../workers/projector/rows.js'
import { seed } from '../random.js'
import { temporaryDirectory } from '../stores.js'
import { History, randomFrom } from './history.js'

const records = 50

/** Inserts that are not answered before `answer`. */
class HangingClickHouse {
  readonly tokens: string[] = []
  private waiting: (() => void)[] = []
  private hangs = true

  insertRaw = async ({ token }: InsertOptions): Promise<void> => {
    this.tokens.push(String(token))
    if (this.hangs) await new Promise<void>(resolve => this.waiting.push(resolve))
  }

  /** Shards whose inserts were sent. */
  get shards(): readonly number[] {
    return [...new Set(this.tokens.map(token => Number(token.split(':')[1])))]
  }

  answer(): void {
    this.hangs = false
    for (const resolve of this.waiting) resolve()
    this.waiting = []
  }
}

/** Keeps positions of chunks, and counts how often each was asked for. */
class Chunks implements ChunkStore {
  readonly starts: number[] = []
  private readonly reached = new Map<number, number>()

  async start({ shard }: { readonly shard: number }) {
    this.starts.push(shard)
    return { sequence: this.reached.get(shard) ?? 0, chunkUpTo: null }
  }
  async begin(): Promise<void> {}
  async finish({ shard }: { readonly shard: number }, _from: number, upTo: number): Promise<void> {
    this.reached.set(shard, upTo)
  }
  async putAside(): Promise<void> {}
}

const rows: RowStore = {
  start: async () => ({ sequence: records, seenSequence: records }),
  write: async () => {},
  putAside: async () => {},
  writeSeen: async () => {},
}

t.test('shards are given up while inserts hang', async t => {
  const root = await temporaryDirectory(t)
  const shards = [0, 1, 2].map(index => ({ index, directory: join(root, String(index)) }))
  const positions = Positions.make(shards.length)
  for (const { index, directory } of shards) {
    const { journal } = await openFileJournal({
      directory,
      committed: sequence => positions.set(index, 'committed', sequence),
    })
    await journal.append(new History(randomFrom(seed), index, 'env_moves').records(records))
    await journal.close()
  }
  const clickhouse = new HangingClickHouse()
  const chunks = new Chunks()
  const { port1: here, port2: there } = new MessageChannel()
  const heard: ProjectorNotice[] = []
  here.on('message', (notice: ProjectorNotice) => heard.push(notice))
  const say = (request: ProjectorRequest): void => here.postMessage(request)
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await sleep(5)
  }
  const hears = (wanted: object): Promise<void> =>
    until(() => heard.some(one => JSON.stringify(one) === JSON.stringify(wanted)))
  const running = runProjectors(
    {
      port: there,
      options: {
        generation: 'g',
        shards,
        redis: undefined,
        positions: positions.memory,
        postgres: { url: '' },
        clickhouse: { url: '' },
        waiting: [],
        tellsChunks: false,
      },
    },
    { disk: nodeDisk, rows, chunks, clickhouse, close: async () => {} },
  )
  await until(() => clickhouse.shards.length === 2)
  const [first] = clickhouse.shards
  const queued = shards.find(({ index }) => !clickhouse.shards.includes(index))!.index

  say({ type: 'disown', index: queued })
  await hears({ type: 'disowned', index: queued })
  t.notOk(clickhouse.shards.includes(queued), 'a shard that waits for its turn goes at once')

  say({ type: 'disown', index: first! })
  say({ type: 'own', shard: shards[first!]! })
  say({ type: 'want', store: 'clickhouse', shard: first!, sequence: records })
  say({ type: 'hold', store: 'postgres' })
  await hears({ type: 'held', store: 'postgres' })
  say({ type: 'release' })
  t.notOk(
    heard.some(one => one.type === 'disowned' && one.index === first),
    'its insert goes on',
  )
  clickhouse.answer()
  await hears({ type: 'disowned', index: first! })
  await hears({ type: 'moved', store: 'clickhouse', shard: first! })
  t.equal(chunks.starts.filter(shard => shard === first).length, 2, 'its position is read again')
  t.equal(positions.get(first!, 'clickhouse'), records)
  t.equal(new Set(clickhouse.tokens).size, clickhouse.tokens.length, 'no chunk is sent twice')

  say({ type: 'stop', drainMs: 0 })
  await running
  here.close()
})
