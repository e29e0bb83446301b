// The form of a backup: a directory of gzipped files, each with its sum, and a table of contents that is written last.
import { createHash, type Hash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import type { Sequence } from '../journal/journal.js'
import type { DumpedTable, Migrated } from '../storage/dump.js'
import { Failure } from './io.js'

/** What is in a backup, and of when. */
export interface Contents {
  /** Of this form. */
  readonly format: typeof format
  /** Version of the Tollgate that took it. */
  readonly tollgate: string
  readonly taken_at: string
  readonly journal: {
    readonly generation: string
    /** By shard: where it ends, and its segments by their first sequence. */
    readonly shards: readonly { readonly committed: Sequence; readonly segments: readonly Sequence[] }[]
  }
  readonly postgres: Store
  readonly clickhouse: Store
  /** Files of the data directory that are kept as they are. */
  readonly secrets: readonly string[]
  /** By path: of what they hold, uncompressed. */
  readonly files: Readonly<Record<string, Sum>>
}

interface Store {
  readonly migrations: readonly Migrated[]
  readonly tables: readonly DumpedTable[]
}

interface Sum {
  readonly bytes: number
  readonly sha256: string
}

const format = 1
const contentsFile = 'backup.json'

/** Quick rather than small: the rows of events are most of it, and shrink well anyway. */
const level = 3

class Summing extends Transform {
  bytes = 0
  private readonly hash: Hash = createHash('sha256')

  override _transform(piece: Buffer, _: BufferEncoding, done: (error: null, piece: Buffer) => void): void {
    this.bytes += piece.length
    this.hash.update(piece)
    done(null, piece)
  }

  sum(): Sum {
    return { bytes: this.bytes, sha256: this.hash.digest('hex') }
  }
}

export class ArchiveWriter {
  private readonly files: Record<string, Sum> = {}

  private constructor(
    readonly directory: string,
    /** Whether the directory was there before. */
    private readonly found: boolean,
  ) {}

  /** errors  Failure when the directory holds anything. */
  static async create(directory: string): Promise<ArchiveWriter> {
    const names = await readdir(directory).catch(error => {
      if (error.code === 'ENOENT') return null
      throw new Failure(`${directory}: ${error.message}`)
    })
    if (names !== null && names.length > 0)
      throw new Failure(`${directory} is not empty: every backup gets a directory of its own`)
    await mkdir(directory, { recursive: true, mode: 0o700 })
    return new ArchiveWriter(directory, names !== null)
  }

  /** Bytes so far, uncompressed. */
  get bytes(): number {
    return Object.values(this.files).reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** Write one file; resolves with its size when it is on disk. `path` without the `.gz` that it gets. */
  async write(path: string, pieces: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<number> {
    const file = join(this.directory, `${path}.gz`)
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    const summing = new Summing()
    const to = createWriteStream(file, { mode: 0o600, flush: true, flags: 'wx' })
    await pipeline(pieces, summing, createGzip({ level }), to)
    this.files[path] = summing.sum()
    return summing.bytes
  }

  /** The backup is whole from here on. */
  async finish(contents: Omit<Contents, 'format' | 'files'>): Promise<void> {
    const whole: Contents = { format, ...contents, files: this.files }
    const file = join(this.directory, contentsFile)
    for (const directory of new Set(Object.keys(this.files).map(path => dirname(join(this.directory, path)))))
      await syncDirectory(directory)
    await writeFile(`${file}.part`, `${JSON.stringify(whole, null, 1)}\n`, { mode: 0o600, flush: true })
    await rename(`${file}.part`, file)
    await syncDirectory(this.directory)
  }

  /** Leave the directory as it was found. */
  async discard(): Promise<void> {
    if (!this.found) return rm(this.directory, { recursive: true, force: true })
    for (const name of await readdir(this.directory))
      await rm(join(this.directory, name), { recursive: true, force: true })
  }
}

export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

export class ArchiveReader {
  private constructor(
    private readonly directory: string,
    readonly contents: Contents,
  ) {}

  /** errors  Failure when it is no backup, not a whole one, or of a form that is not known here. */
  static async open(directory: string): Promise<ArchiveReader> {
    const text = await readFile(join(directory, contentsFile), 'utf8').catch(cause => {
      throw new Failure(`${directory} is no whole backup: it has no ${contentsFile}`, { cause })
    })
    const contents = parse(text)
    if (contents?.format !== format)
      throw new Failure(`${directory} is of a form that this Tollgate does not know: a newer one took it`)
    return new ArchiveReader(directory, contents)
  }

  has(path: string): boolean {
    return Object.hasOwn(this.contents.files, path)
  }

  /** errors  Failure when the file is not what was written; then everything read of it is worth nothing. */
  async *read(path: string): AsyncGenerator<Buffer> {
    const wanted = this.contents.files[path]
    if (wanted === undefined) throw new Failure(`the backup lists no ${path}`)
    const summing = new Summing()
    try {
      const file = createReadStream(join(this.directory, `${path}.gz`))
      const gunzip = createGunzip()
      file.on('error', error => gunzip.destroy(error))
      gunzip.on('error', error => summing.destroy(error))
      yield* file.pipe(gunzip).pipe(summing) as AsyncIterable<Buffer>
    } catch (cause) {
      throw new Failure(`${path} of the backup cannot be read: ${(cause as Error).message}`, { cause })
    }
    const { bytes, sha256 } = summing.sum()
    if (bytes !== wanted.bytes || sha256 !== wanted.sha256)
      throw new Failure(`${path} of the backup is not what was written`)
  }
}

function parse(text: string): Contents | null {
  try {
    return JSON.parse(text) as Contents
  } catch {
    return null
  }
}
