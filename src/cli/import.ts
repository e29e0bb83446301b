// `tollgate import`: sends a file of events, one per line, in batches. Resumable.
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  createReadStream,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { createGunzip } from 'node:zlib'
import { SingleBar } from 'cli-progress'
import { withExactQuantities } from '../events/quantities.js'
import { jsonText } from '../json.js'
import type { Client } from './client.js'
import { type Exit, exit, Failure, type Io } from './io.js'

export interface ImportOptions {
  readonly file: string
  /** File for rejected lines, with the reason. */
  readonly rejects: string
  /** Events per request. */
  readonly batch: number
  /** Concurrent requests. With more than one, events may arrive in another order than in the file. */
  readonly parallel: number
  /** Add backfill to every event without a time mode. */
  readonly backfill: boolean
}

/** The progress file: everything up to `line` is acknowledged. */
interface Progress {
  readonly file: string
  readonly line: number
  readonly sent: number
  readonly rejected: number
}

interface Batch {
  readonly lines: readonly { readonly number: number; readonly text: string }[]
  /** File offset after its last line. */
  readonly bytes: number
}

const batchBytesMax = 6 << 20
const headBytes = 65_536

/**
 * Import a file.
 *
 * A line without an idempotency key gets one from the file's contents and its line number. A batch sent twice
 * around an interruption then counts once, if both are within 24 hours.
 *
 * returns  `findings` when lines were rejected.
 */
export async function importFile(client: Client, options: ImportOptions, io: Io): Promise<Exit> {
  const side = `${options.file}.progress`
  const size = (await stat(options.file).catch(() => null))?.size
  if (size === undefined) throw new Failure(`${options.file}: no such file`)
  const file = await fingerprint(options.file, size)
  let progress = readProgress(side, file)
  if (progress.line > 0) io.note(`going on after line ${progress.line}`)
  else rmSync(options.rejects, { force: true })
  const bar = io.bar === null ? null : new SingleBar({ stream: io.bar, format: barFormat, hideCursor: true })
  bar?.start(size, 0, { sent: progress.sent, rejected: progress.rejected })
  try {
    const sending: { batch: Batch; done: Promise<readonly Reject[]> }[] = []
    const settle = async (): Promise<void> => {
      const { batch, done } = sending.shift()!
      const rejects = await done
      if (rejects.length > 0)
        appendFileSync(options.rejects, rejects.map(one => `${JSON.stringify(one)}\n`).join(''), {
          mode: 0o600,
        })
      progress = {
        file,
        line: batch.lines.at(-1)!.number,
        sent: progress.sent + batch.lines.length - rejects.length,
        rejected: progress.rejected + rejects.length,
      }
      writeFileSync(`${side}.new`, JSON.stringify(progress), { mode: 0o600 })
      renameSync(`${side}.new`, side)
      bar?.update(batch.bytes, { sent: progress.sent, rejected: progress.rejected })
    }
    for await (const batch of batches(options, progress.line)) {
      if (sending.length >= options.parallel) await settle()
      const done = send(client, batch, file, options.backfill)
      done.catch(() => {}) // handled when its turn comes
      sending.push({ batch, done })
    }
    while (sending.length > 0) await settle()
  } finally {
    bar?.stop()
  }
  rmSync(side, { force: true })
  io.print(`${progress.sent} events imported, ${progress.rejected} rejected`)
  if (progress.rejected === 0) return exit.done
  io.note(`rejected lines and the reasons: ${options.rejects}`)
  return exit.findings
}

const barFormat = '{bar} {percentage}%  {sent} events, {rejected} rejected  {eta_formatted} left'

/** Identifies a file by its content, so that an import does not resume in a changed file. */
async function fingerprint(path: string, size: number): Promise<string> {
  const handle = await open(path)
  try {
    const head = Buffer.alloc(Math.min(headBytes, size))
    await handle.read(head, 0, head.length, 0)
    return createHash('sha256').update(head).update(String(size)).digest('hex').slice(0, 24)
  } finally {
    await handle.close()
  }
}

function readProgress(side: string, file: string): Progress {
  const none = { file, line: 0, sent: 0, rejected: 0 }
  if (!existsSync(side)) return none
  const known = JSON.parse(readFileSync(side, 'utf8')) as Progress
  if (known.file === file) return known
  throw new Failure(`${side} belongs to another file of this name: remove it to begin anew`)
}

async function* batches(options: ImportOptions, after: number): AsyncGenerator<Batch> {
  const source = createReadStream(options.file)
  let lines: { number: number; text: string }[] = []
  let bytes = 0
  for await (const line of linesOf(source, options.file.endsWith('.gz'))) {
    if (line.number <= after || line.text.trim() === '') continue
    if (lines.length > 0 && (lines.length >= options.batch || bytes + line.text.length * 3 > batchBytesMax)) {
      yield { lines, bytes: source.bytesRead }
      lines = []
      bytes = 0
    }
    lines.push(line)
    bytes += Buffer.byteLength(line.text) + 100
  }
  if (lines.length > 0) yield { lines, bytes: source.bytesRead }
}

async function* linesOf(
  source: NodeJS.ReadableStream,
  gzip: boolean,
): AsyncGenerator<{ number: number; text: string }> {
  const text = (gzip ? source.pipe(createGunzip()) : source).setEncoding('utf8')
  let rest = ''
  let number = 0
  for await (const piece of text as AsyncIterable<string>) {
    const parts = (rest + piece).split('\n')
    rest = parts.pop()!
    for (const part of parts) yield { number: ++number, text: part }
  }
  if (rest !== '') yield { number: ++number, text: rest }
}

interface Reject {
  readonly line: number
  readonly error: string
  readonly text: string
}

/** Send one batch. Returns the rejected lines. */
async function send(
  client: Client,
  { lines }: Batch,
  file: string,
  backfill: boolean,
): Promise<readonly Reject[]> {
  const fits = lines.filter(({ text }) => Buffer.byteLength(text) <= batchBytesMax)
  const body = fits.map(({ number, text }) => prepared(text, `import:${file}:${number}`, backfill)).join('\n')
  const answer = await client.send('POST', '/event-batch?report=true&any_age=true', body, {
    'Content-Type': 'application/x-ndjson',
  })
  const { data } = (await answer.json()) as { data: { events: { error: string | null }[] } }
  const refused = data.events.flatMap(({ error }, index) => {
    const { number, text } = fits[index]!
    return error === null ? [] : [{ line: number, error, text }]
  })
  const long = lines.filter(line => !fits.includes(line))
  return [
    ...refused,
    ...long.map(({ number, text }) => ({ line: number, error: 'the line is too long', text })),
  ]
}

/** The line to send. An unparsable one is sent unchanged, and Tollgate reports it. */
function prepared(text: string, key: string, backfill: boolean): string {
  let event: unknown
  try {
    event = withExactQuantities(JSON.parse(text), text)
  } catch {
    return text
  }
  if (typeof event !== 'object' || event === null || Array.isArray(event)) return text
  const given = event as Record<string, unknown>
  const asBackfill = backfill && given.backfill === undefined && given.trusted_client_clock === undefined
  return jsonText({
    ...given,
    ...(given.idempotency_key ? {} : { idempotency_key: key }),
    ...(asBackfill ? { backfill: true, trusted_client_clock: true } : {}),
  })
}
