// Reads and writes backups: a directory of gzipped files with checksums, and a table of contents that is written
// last.
import { createHash, type Hash } from 'node:crypto'
import { constants, createReadStream, createWriteStream } from 'node:fs'
import { lstat, mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { type Contents, checkedContents, format, isSealed, type Sum, seal, type Voucher } from './contents.js'
import { Failure } from './io.js'

const contentsFile = 'backup.json'
/** The file with the HMAC of the contents and the name of the secret used. */
const sealFile = 'backup.mac'
/** Upper bound on the size of a table of contents. */
const contentsBytesMax = 64 << 20

/** Compression level: fast rather than small. Most bytes are rows of events, which compress well anyway. */
const level = 3

class Summing extends Transform {
  bytes = 0
  private readonly hash: Hash = createHash('sha256')

  /** `bytesMax`: longer input is an error before it is passed on. */
  constructor(private readonly bytesMax = Number.POSITIVE_INFINITY) {
    super()
  }

  override _transform(
    piece: Buffer,
    _: BufferEncoding,
    done: (error: Error | null, piece?: Buffer) => void,
  ): void {
    this.bytes += piece.length
    if (this.bytes > this.bytesMax) {
      done(new Error('it holds more than is listed'))
      return
    }
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
    /** Whether the directory existed before. */
    private readonly found: boolean,
  ) {}

  /** errors  Failure when the directory is not empty, or others than its owner may write to it. */
  static async create(directory: string): Promise<ArchiveWriter> {
    const names = await readdir(directory).catch(error => {
      if (error.code === 'ENOENT') return null
      throw new Failure(`${directory}: ${error.message}`)
    })
    if (names !== null && names.length > 0)
      throw new Failure(`${directory} is not empty: every backup gets a directory of its own`)
    if (names !== null && ((await stat(directory)).mode & 0o022) !== 0)
      throw new Failure(
        `${directory} may be written by others than its owner: chmod go-w it, or name another`,
      )
    await mkdir(directory, { recursive: true, mode: 0o700 })
    return new ArchiveWriter(directory, names !== null)
  }

  /** Bytes written so far, uncompressed. */
  get bytes(): number {
    return Object.values(this.files).reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** Write one file; resolves with its size when it is on disk. `path` is without the suffix `.gz`. */
  async write(path: string, pieces: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<number> {
    const file = join(this.directory, `${path}.gz`)
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    const summing = new Summing()
    const to = createWriteStream(file, { mode: 0o600, flush: true, flags: 'wx' })
    await pipeline(pieces, summing, createGzip({ level }), to)
    this.files[path] = summing.sum()
    return summing.bytes
  }

  /**
   * Write the table of contents, which completes the backup.
   *
   * returns  its SHA-256, hex. It identifies this backup later.
   */
  async finish(
    contents: Omit<Contents, 'format' | 'files'>,
    [voucher, secret]: readonly [Voucher, string],
  ): Promise<string> {
    const whole: Contents = { format, ...contents, files: this.files }
    const file = join(this.directory, contentsFile)
    for (const directory of new Set(Object.keys(this.files).map(path => dirname(join(this.directory, path)))))
      await syncDirectory(directory)
    const text = `${JSON.stringify(whole, null, 1)}\n`
    await writeFile(join(this.directory, sealFile), seal(text, voucher, secret), { mode: 0o600, flush: true })
    await writeFile(`${file}.part`, text, { mode: 0o600, flush: true })
    await rename(`${file}.part`, file)
    await syncDirectory(this.directory)
    return fingerprintOf(text)
  }

  /** Restore the directory to its former state. */
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

const fingerprintOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The evidence a restore accepts for the origin of a backup. */
export interface Trust {
  readonly secrets: readonly (readonly [Voucher, string])[]
  /** SHA-256 of the table of contents, hex, as printed when the backup was taken. */
  readonly fingerprint?: string | undefined
  /** Accept a backup without a seal, or one sealed with a secret that is not given. Damage is still noticed. */
  readonly unsealed: boolean
}

/** The evidence found: the restorer's secret or fingerprint; or none, which `unsealed` accepted. */
type Vouched = 'known' | 'nobody'

export class ArchiveReader {
  private constructor(
    private readonly directory: string,
    readonly contents: Contents,
    readonly vouched: Vouched,
  ) {}

  /**
   * Open a backup. Its table of contents is authenticated and its form checked before anything in it is used. Links
   * are not followed.
   *
   * errors  Failure when it is not a backup, incomplete, of an unknown format, or not authenticated.
   */
  static async open(directory: string, trust: Trust): Promise<ArchiveReader> {
    const text = await readPlain(join(directory, contentsFile)).catch(cause => {
      throw new Failure(`${directory} is no whole backup: its ${contentsFile} cannot be read`, { cause })
    })
    const line = await readPlain(join(directory, sealFile)).catch(() => '')
    const vouched = await vouch(directory, text, line, trust)
    const contents = checkedContents(text)
    const folders = new Set(Object.keys(contents.files).map(path => dirname(path)))
    for (const folder of folders)
      if (folder !== '.' && !(await lstat(join(directory, folder)).catch(() => null))?.isDirectory())
        throw new Failure(`${folder} of the backup is no directory`)
    return new ArchiveReader(directory, contents, vouched)
  }

  has(path: string): boolean {
    return Object.hasOwn(this.contents.files, path)
  }

  /** errors  Failure when the file differs from what was written; discard everything read from it then. */
  async *read(path: string): AsyncGenerator<Buffer> {
    const wanted = this.contents.files[path]
    if (wanted === undefined) throw new Failure(`the backup lists no ${path}`)
    const summing = new Summing(wanted.bytes)
    try {
      const file = createReadStream(join(this.directory, `${path}.gz`), { flags: plainFlags })
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

// Node accepts numeric flags too; its types do not say so.
const plainFlags = (constants.O_RDONLY | constants.O_NOFOLLOW) as unknown as string

async function readPlain(path: string): Promise<string> {
  const file = await open(path, plainFlags)
  try {
    const { size } = await file.stat()
    if (size > contentsBytesMax) throw new Error(`${path} is too large`)
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

async function vouch(directory: string, text: string, line: string, trust: Trust): Promise<Vouched> {
  const { secrets, fingerprint, unsealed } = trust
  if (fingerprint !== undefined) {
    if (fingerprint.toLowerCase() === fingerprintOf(text)) return 'known'
    throw new Failure(`${directory} is another backup than the one of this fingerprint`)
  }
  if (line === '') {
    if (unsealed) return 'nobody'
    throw new Failure(
      `${directory} has no ${sealFile}: nothing says who wrote it. If it is of a Tollgate that wrote none, and you ` +
        'trust where it was kept, say --unsealed.',
    )
  }
  if (isSealed(text, line, secrets)) return 'known'
  const [voucher, setting] = line.startsWith('pepper ')
    ? (['pepper', 'TOLLGATE_PEPPER'] as const)
    : (['TOLLGATE_BACKUP_KEY', 'TOLLGATE_BACKUP_KEY'] as const)
  if (!unsealed || secrets.some(([kind]) => kind === voucher))
    throw new Failure(
      `${directory} is not vouched for by a secret given here: it was changed, or ${setting} is another one than when ` +
        'it was taken. Where neither it nor TOLLGATE_PEPPER was set, it is in the file backup-key of the data ' +
        'directory that the backup was taken of (TOLLGATE_BACKUP_KEY_FILE). --fingerprint takes the line that ' +
        '`tollgate backup` printed instead; --unsealed takes the backup if you trust where it was kept.',
    )
  // A pepper inside the backup shows damage. It vouches for nothing: whoever changed the backup could replace both.
  const own = voucher === 'pepper' ? await ownPepper(directory) : null
  if (own !== null && !isSealed(text, line, [['pepper', own]]))
    throw new Failure(`${directory} is not what was written: its ${contentsFile} was changed`)
  return 'nobody'
}

/** Longest pepper that is read from a backup, bytes. */
const pepperBytesMax = 4_096

async function ownPepper(directory: string): Promise<string | null> {
  const pieces: Buffer[] = []
  try {
    const file = createReadStream(join(directory, 'pepper.gz'), { flags: plainFlags })
    const summing = new Summing(pepperBytesMax)
    await pipeline(file, createGunzip(), summing, async function* (from: AsyncIterable<Buffer>) {
      for await (const piece of from) pieces.push(piece)
      yield Buffer.alloc(0)
    })
    return Buffer.concat(pieces).toString('utf8').trim()
  } catch {
    return null
  }
}
