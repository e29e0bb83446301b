// `tollgate import`: brings companies, users, overrides, grants, subscriptions and past events from a file. Resumable.
import {
  appendFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { stat } from 'node:fs/promises'
import { SingleBar } from 'cli-progress'
import type { Client } from './client.js'
import { companies, users } from './import/entities.js'
import { events } from './import/events.js'
import type { Context, Kind, Outcome, Unit } from './import/kind.js'
import { type Compiled, compile, type Mapping, meant, noMapping, readMapping } from './import/mapping.js'
import { MemberFault } from './import/members.js'
import { Names } from './import/names.js'
import {
  delimiterOf,
  type FileFormat,
  type FileSource,
  fingerprint,
  formatOf,
  type RawRecord,
  recordsOf,
} from './import/read.js'
import { grants, overrides, subscriptions } from './import/records.js'
import { type Exit, exit, Failure, type Io } from './io.js'

interface ImportOptions {
  readonly file: string
  /** Mapping file; null: columns and members have the names of the kind. */
  readonly mapping: string | null
  /** Name of a kind; null: as the mapping says, else events. */
  readonly kind: string | null
  readonly format: FileFormat | null
  /** File for rejected records, with the reason; null: beside the file. */
  readonly rejects: string | null
  /** Records of one step: what is done is noted after each. */
  readonly batch: number | null
  /** Concurrent requests; null: as is right for the kind. */
  readonly parallel: number | null
  /** Add backfill to every event without a time mode. */
  readonly backfill: boolean
  /** Say what would be made and changed, and write nothing. */
  readonly dryRun: boolean
  /** Send events again that were imported more than a day ago. */
  readonly again: boolean
}

export const kinds: readonly Kind[] = [companies, users, subscriptions, overrides, grants, events]

/** The progress file: everything up to `line` is acknowledged. */
interface Progress {
  readonly file: string
  readonly kind: string
  readonly environment: string
  readonly line: number
  readonly made: number
  readonly changed: number
  readonly unchanged: number
  readonly rejected: number
  /** Length of the file of rejects. */
  readonly rejects: number
}

/** Everything that a run needs, checked before anything is sent. */
interface Plan {
  readonly options: ImportOptions
  readonly kind: Kind
  readonly source: FileSource
  readonly compiled: Compiled
  readonly context: Context
  readonly rejects: string
  readonly environment: string
}

const batchBytesMax = 6 << 20
const keysKnownMs = 23 * 3_600_000
/** Differences that a dry run prints. */
const shownMax = 40

/**
 * Import a file.
 *
 * The whole file is read once before anything is sent, so a quote that is never closed or a wrong encoding is found
 * while nothing is written. Records that are there as the file has them are left alone: a second run changes nothing.
 * An event without an idempotency key gets one from the file's contents and its line.
 *
 * returns  `findings` when records were rejected.
 * errors   Failure for a file, mapping or column that makes no sense, and when the service is away.
 */
export async function importFile(client: Client, options: ImportOptions, io: Io): Promise<Exit> {
  const plan = await planOf(client, options, io)
  const doneFile = `${options.file}.imported`
  if (!options.dryRun && plan.kind === events && wasImported(doneFile, plan, io)) return exit.done
  const result = await run(plan, io)
  if (!options.dryRun && plan.kind === events)
    writeFileSync(doneFile, JSON.stringify({ ...result, at: new Date().toISOString() }), { mode: 0o600 })
  io.print(summary(plan, result))
  if (options.dryRun) io.print('A dry run: nothing was written.')
  else if (result.made + result.changed === 0) io.print('Nothing changed.')
  if (result.rejected === 0) return exit.done
  io.note(`rejected ${plan.source.format === 'csv' ? 'records' : 'lines'} and the reasons: ${plan.rejects}`)
  return exit.findings
}

async function planOf(client: Client, options: ImportOptions, io: Io): Promise<Plan> {
  const { file, dryRun } = options
  if (!(await stat(file).catch(() => null))?.isFile()) throw new Failure(`${file}: no such file`)
  const mapping = options.mapping === null ? noMapping : await readMapping(options.mapping)
  const format = options.format ?? formatOf(file) ?? 'ndjson'
  const kind = kindOf(options, mapping, format)
  const { encoding } = mapping
  const delimiter = format === 'csv' ? (mapping.delimiter ?? (await delimiterOf(file, encoding))) : ','
  const source = { file, format, encoding, delimiter }
  const header = await checked(source)
  const takesLines = kind.takesLines === true && format === 'ndjson' && mapping.places === null
  const compiled = takesLines
    ? { toRow: () => ({ '': true }), unused: [] }
    : compile(mapping, kind.name, kind.members, header)
  if (compiled.unused.length > 0) io.note(`columns that are not used: ${compiled.unused.join(', ')}`)
  const { environment_id } = await client.ask<{ environment_id: string | null }>('GET', '/whoami')
  return {
    options,
    kind,
    source,
    compiled,
    context: {
      client,
      names: new Names(client),
      dryRun,
      file: await fingerprint(file),
      parallel: options.parallel ?? (kind === events ? 1 : 8),
      backfill: options.backfill,
    },
    rejects: options.rejects ?? `${file}${dryRun ? '.dry-run' : ''}.rejects`,
    environment: environment_id ?? '',
  }
}

function kindOf({ kind: given }: ImportOptions, mapping: Mapping, format: FileFormat): Kind {
  const names = kinds.map(({ name }) => name)
  if (given !== null && mapping.kind !== null && given !== mapping.kind)
    throw new Failure(`--kind ${given}: the mapping says ${mapping.kind}`)
  const name = given ?? mapping.kind ?? (format === 'ndjson' ? 'events' : null)
  if (name === null)
    throw new Failure(`say what the file has: --kind, or kind in a mapping; one of ${names.join(', ')}`)
  const kind = kinds.find(one => one.name === name)
  if (!kind)
    throw new Failure(`kind: ${name} is not known${meant(name, names)}; there are ${names.join(', ')}`)
  return kind
}

/** Read a file to its end. Returns the header of CSV; null for lines of JSON. errors: Failure that names the line. */
async function checked(source: FileSource): Promise<readonly string[] | null> {
  let header: readonly string[] | null = null
  for await (const { cells } of recordsOf(source)) header ??= cells
  if (source.format !== 'csv') return null
  if (header === null) throw new Failure(`${source.file}: empty; the first line names the columns`)
  return header
}

/** Whether events of the file were counted longer ago than their idempotency keys are known. */
function wasImported(doneFile: string, { context, environment, options }: Plan, io: Io): boolean {
  if (options.again || !existsSync(doneFile)) return false
  const done = JSON.parse(readFileSync(doneFile, 'utf8')) as Progress & { readonly at: string }
  if (done.file !== context.file || done.environment !== environment) return false
  if (Date.now() - Date.parse(done.at) < keysKnownMs) return false
  io.print(`Nothing changed: the file was imported at ${done.at}; --again counts its events once more.`)
  return true
}

async function run(plan: Plan, io: Io): Promise<Progress> {
  const { options, context, kind, source, rejects } = plan
  const side = `${options.file}.progress`
  let progress = startOf(plan, side, io)
  const bar = io.bar === null ? null : new SingleBar({ stream: io.bar, format: barFormat, hideCursor: true })
  bar?.start(statSync(source.file).size, 0, progress)
  const shower = new Shower(io, kind)
  const settle = async ({ batch, done }: Sending): Promise<void> => {
    const outcomes = await done
    const lines = rejectLines(batch.units, outcomes)
    if (lines !== '') appendFileSync(rejects, lines, { mode: 0o600 })
    progress = added(progress, batch, outcomes, Buffer.byteLength(lines))
    if (options.dryRun) shower.show(batch.units, outcomes)
    else {
      writeFileSync(`${side}.new`, JSON.stringify(progress), { mode: 0o600 })
      renameSync(`${side}.new`, side)
    }
    bar?.update(batch.bytes, progress)
  }
  try {
    const sending: Sending[] = []
    for await (const batch of batches(plan, progress.line)) {
      if (sending.length >= kind.batches(context)) await settle(sending.shift()!)
      const done = written(plan, batch.units)
      done.catch(() => {}) // handled when its turn comes
      sending.push({ batch, done })
    }
    while (sending.length > 0) await settle(sending.shift()!)
  } finally {
    bar?.stop()
  }
  if (!options.dryRun) rmSync(side, { force: true })
  shower.end()
  return progress
}

interface Sending {
  readonly batch: Batch
  readonly done: Promise<readonly Outcome[]>
}

const barFormat =
  '{bar} {percentage}%  {made} made, {changed} changed, {rejected} rejected  {eta_formatted} left'

function startOf({ options, context, kind, environment, rejects }: Plan, side: string, io: Io): Progress {
  const none: Progress = {
    file: context.file,
    kind: kind.name,
    environment,
    line: 0,
    made: 0,
    changed: 0,
    unchanged: 0,
    rejected: 0,
    rejects: 0,
  }
  if (options.dryRun || !existsSync(side)) {
    rmSync(rejects, { force: true })
    return none
  }
  const known = JSON.parse(readFileSync(side, 'utf8')) as Progress
  for (const [member, what] of [
    ['file', 'another file of this name'],
    ['kind', `an import of ${known.kind}`],
    ['environment', 'an import into another environment'],
  ] as const)
    if (known[member] !== none[member])
      throw new Failure(`${side} belongs to ${what}: remove it to begin anew`)
  io.note(`going on after line ${known.line}`)
  // rejects of a step that was interrupted come again
  if (existsSync(rejects) && statSync(rejects).size > known.rejects) truncateSync(rejects, known.rejects)
  return known
}

/** A unit of a file: a record, or the reason why it is none. */
type Read = Unit & { readonly fault: MemberFault | null }

interface Batch {
  readonly units: readonly Read[]
  /** File offset after its last record. */
  readonly bytes: number
}

/** Steps of the file after a line. */
async function* batches({ options, kind, source, compiled }: Plan, after: number): AsyncGenerator<Batch> {
  const most = options.batch ?? (kind === events ? 2_000 : 200)
  const memory = new Map<string, number>()
  let units: Read[] = []
  let length = 0
  let bytes = 0
  let isHeader = source.format === 'csv'
  for await (const record of recordsOf(source)) {
    if (isHeader) {
      isHeader = false
      continue
    }
    const unit = readUnit(record, compiled, kind, memory)
    if (record.lastLine <= after) continue
    const last = units.at(-1)
    if (last && joins(kind, last, unit)) {
      // a record of several lines is taken whole, or not at all
      const fault = last.fault ?? (unit.fault && ofLine(unit.line, unit.fault))
      units[units.length - 1] = {
        ...last,
        lastLine: unit.lastLine,
        text: `${last.text}\n${unit.text}`,
        row: fault === null ? kind.merge!(last.row, unit.row) : last.row,
        fault,
      }
      continue
    }
    if (last && (units.length >= most || length + record.text.length * 3 > batchBytesMax)) {
      yield { units, bytes }
      units = []
      length = 0
    }
    units.push(unit)
    length += Buffer.byteLength(record.text) + 100
    bytes = record.bytes
  }
  if (units.length > 0) yield { units, bytes }
}

function joins(kind: Kind, last: Read, unit: Read): boolean {
  if (!kind.joinedBy) return false
  const name = kind.joinedBy(unit.row)
  return name !== null && kind.joinedBy(last.row) === name
}

const ofLine = (line: number, { member, message }: MemberFault): MemberFault =>
  new MemberFault(member, `line ${line}: ${message}`)

function readUnit(record: RawRecord, { toRow }: Compiled, kind: Kind, memory: Map<string, number>): Read {
  const { line, lastLine, text } = record
  try {
    const row = toRow(record)
    return { line, lastLine, text, row: kind.prepare?.(row, memory) ?? row, fault: null }
  } catch (error) {
    if (!(error instanceof MemberFault)) throw error
    return { line, lastLine, text, row: error.row, fault: error }
  }
}

/** Write the records of a step. Returns what became of each. */
async function written({ kind, context }: Plan, units: readonly Read[]): Promise<readonly Outcome[]> {
  const good = units.filter(unit => unit.fault === null)
  const outcomes = good.length === 0 ? [] : await kind.write(context, good)
  let next = 0
  return units.map(({ fault }) =>
    fault === null ? outcomes[next++]! : { type: 'rejected', member: fault.member, error: fault.message },
  )
}

function rejectLines(units: readonly Unit[], outcomes: readonly Outcome[]): string {
  return outcomes
    .map((outcome, at) => {
      if (outcome.type !== 'rejected') return ''
      const { line, text } = units[at]!
      return `${JSON.stringify({ line, member: outcome.member, error: outcome.error, text })}\n`
    })
    .join('')
}

function added(before: Progress, { units }: Batch, outcomes: readonly Outcome[], bytes: number): Progress {
  const count = (type: Outcome['type']) => outcomes.filter(one => one.type === type).length
  return {
    ...before,
    line: units.at(-1)!.lastLine,
    made: before.made + count('made'),
    changed: before.changed + count('changed'),
    unchanged: before.unchanged + count('unchanged'),
    rejected: before.rejected + count('rejected'),
    rejects: before.rejects + bytes,
  }
}

/** Prints what a dry run finds, up to a bound. */
class Shower {
  private left = shownMax
  private more = 0

  constructor(
    private readonly io: Io,
    private readonly kind: Kind,
  ) {}

  show(units: readonly Unit[], outcomes: readonly Outcome[]): void {
    for (const [at, outcome] of outcomes.entries()) {
      const { line, row } = units[at]!
      if (outcome.type === 'unchanged') continue
      if (this.left === 0) this.more++
      else {
        this.left--
        const name = Object.hasOwn(row, '') ? '' : this.kind.label(row)
        const what = outcomeText(name, outcome)
        this.io.print(`line ${line}: ${what.trimEnd()}`)
      }
    }
  }

  end(): void {
    if (this.more > 0) this.io.print(`… and ${this.more} more`)
  }
}

function outcomeText(name: string, outcome: Outcome): string {
  if (outcome.type === 'rejected') return `! ${outcome.error}`
  return outcome.type === 'changed' ? `~ ${name}  ${outcome.changes.join(', ')}` : `+ ${name}`
}

function summary({ kind, options }: Plan, { made, changed, unchanged, rejected }: Progress): string {
  const known = unchanged > 0 ? `${unchanged} known already, ` : ''
  if (kind === events)
    return options.dryRun
      ? `${made} events would be sent, ${rejected} rejected`
      : `${made} events imported, ${known}${rejected} rejected`
  return `${kind.name}: ${made} made, ${changed} changed, ${unchanged} unchanged, ${rejected} rejected`
}
