// Reading a file of records: CSV or one JSON value per line, plain or gzip, in any encoding that a mapping names.
import { createHash } from 'node:crypto'
import { createReadStream, type ReadStream } from 'node:fs'
import { PassThrough, pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { type CsvError, parse } from 'csv-parse'
import { Failure } from '../io.js'

export type FileFormat = 'csv' | 'ndjson'

/** How to read a file. */
export interface FileSource {
  readonly file: string
  readonly format: FileFormat
  /** A label of the Encoding Standard, such as `utf-8` or `windows-1252`. */
  readonly encoding: string
  /** Between cells of CSV. */
  readonly delimiter: string
}

/** One record as it lies in the file. */
export interface RawRecord {
  /** First and last line, from 1. */
  readonly line: number
  readonly lastLine: number
  readonly text: string
  /** Cells of CSV; null for a line of JSON. */
  readonly cells: readonly string[] | null
  /** File offset that was read when the record came. */
  readonly bytes: number
}

/** Longest record, in characters. */
export const recordLengthMax = 6 << 20
export const tooLong = `the line is longer than ${recordLengthMax} characters`
const headBytes = 65_536
const delimiters = [',', ';', '\t', '|'] as const

/** `csv` or `ndjson`, by the name; null where it says neither. */
export function formatOf(file: string): FileFormat | null {
  const name = file.toLowerCase().replace(/\.gz$/, '')
  if (/\.(csv|tsv|txt)$/.test(name)) return 'csv'
  return /\.(ndjson|jsonl|json)$/.test(name) ? 'ndjson' : null
}

/** The records of a file. errors: Failure for a file that cannot be read, naming the line. */
export async function* recordsOf(source: FileSource): AsyncGenerator<RawRecord> {
  const bytes = createReadStream(source.file)
  if (source.format === 'csv') yield* csvRecords(source, bytes)
  else yield* linesOf(source, bytes)
}

/** The text of a file in pieces. errors: Failure for bytes that are no text in the encoding. */
async function* textOf({ file, encoding }: FileSource, bytes: ReadStream): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true })
  const plain = file.endsWith('.gz') ? pipeline(bytes, createGunzip(), () => {}) : bytes
  let line = 1
  const decoded = (piece?: Uint8Array): string => {
    try {
      return piece ? decoder.decode(piece, { stream: true }) : decoder.decode()
    } catch {
      const good = new TextDecoder(encoding).decode(piece).split('\uFFFD', 1)[0]!
      throw new Failure(
        `${file}, line ${line + linesEnded(good)}: not ${encoding}; a mapping names another encoding, e.g. encoding: windows-1252`,
      )
    }
  }
  try {
    for await (const piece of plain as AsyncIterable<Uint8Array>) {
      const text = decoded(piece)
      line += linesEnded(text)
      yield text
    }
  } catch (error) {
    throw error instanceof Failure ? error : new Failure(`${file}, line ${line}: ${(error as Error).message}`)
  }
  yield decoded()
}

const linesEnded = (text: string): number => text.split('\n').length - 1

async function* linesOf(source: FileSource, bytes: ReadStream): AsyncGenerator<RawRecord> {
  let rest = ''
  let line = 0
  const record = (text: string): RawRecord => ({
    line: ++line,
    lastLine: line,
    text: text.endsWith('\r') ? text.slice(0, -1) : text,
    cells: null,
    bytes: bytes.bytesRead,
  })
  for await (const piece of textOf(source, bytes)) {
    const parts = piece.split('\n')
    for (const [at, part] of parts.entries()) {
      if (at > 0) {
        const read = record(rest)
        rest = ''
        if (read.text.trim() !== '') yield read
      }
      // a line that is too long is cut, and refused later
      if (rest.length <= recordLengthMax) rest += part
    }
  }
  if (rest.trim() !== '') yield record(rest)
}

interface Parsed {
  readonly record: readonly string[]
  readonly raw: string
  readonly info: { readonly lines: number }
}

/** Records of CSV, the header first. Blanks around cells without quotes are dropped. */
async function* csvRecords(source: FileSource, bytes: ReadStream): AsyncGenerator<RawRecord> {
  const parser = parse({
    delimiter: source.delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    skip_empty_lines: true,
    trim: true,
    info: true,
    raw: true,
    max_record_size: recordLengthMax,
  })
  // the pipeline passes an error of the text on to the parser
  pipeline(Readable.from(textOf(source, bytes)), new PassThrough(), parser, () => {})
  // the parser counts a line end of two characters inside quotes twice
  let twice = 0
  try {
    for await (const { record, raw, info } of parser as AsyncIterable<Parsed>) {
      const text = raw.replace(/^[\r\n]+|[\r\n]+$/g, '')
      const within = text.match(/\r\n|\n|\r/g)?.length ?? 0
      twice += text.match(/\r\n/g)?.length ?? 0
      const lastLine = info.lines - twice
      yield {
        line: lastLine - within,
        lastLine,
        text,
        cells: record,
        bytes: bytes.bytesRead,
      }
    }
  } catch (error) {
    throw error instanceof Failure ? error : new Failure(`${source.file}, ${csvProblem(error as CsvError)}`)
  }
}

const quoteInside = 'a quote inside a cell; write it twice, and the cell in quotes: "a ""quoted"" word"'
const csvProblems: ReadonlyMap<string, string> = new Map([
  ['CSV_QUOTE_NOT_CLOSED', 'a quote is opened and never closed'],
  ['CSV_INVALID_CLOSING_QUOTE', quoteInside],
  ['INVALID_OPENING_QUOTE', quoteInside],
  ['CSV_MAX_RECORD_SIZE', `longer than ${recordLengthMax} characters; is a quote not closed?`],
])

function csvProblem(error: CsvError): string {
  return `line ${error.lines ?? '?'}: ${csvProblems.get(error.code) ?? error.message}`
}

/** The separator of a CSV file: the one that the first line has most often, outside of quotes. */
export async function delimiterOf(file: string, encoding: string): Promise<string> {
  let head = ''
  const source = { file, encoding, format: 'csv', delimiter: ',' } as const
  for await (const piece of textOf(source, createReadStream(file, { end: headBytes }))) {
    head += piece
    if (head.length >= headBytes || head.trimStart().includes('\n')) break
  }
  const first = head
    .trimStart()
    .split(/[\r\n]/)[0]!
    .replaceAll(/"[^"]*"/g, '')
  const counted = delimiters.map(one => ({ one, count: first.split(one).length }))
  return counted.reduce((most, next) => (next.count > most.count ? next : most)).one
}

/** Identifies a file by its content, so that an import does not go on in a changed one. */
export async function fingerprint(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of createReadStream(file)) hash.update(piece as Uint8Array)
  return hash.digest('hex').slice(0, 24)
}
