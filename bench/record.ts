// Keeps what benchmarks measured and writes it into bench/README.md, and the first of it into README.md: numbers,
// machine, versions, commit.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, release, type as systemName, totalmem } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The repository's folder; this file runs from dist/bench. */
export const root = fileURLToPath(new URL('../..', import.meta.url))

/** One number. */
export interface Measured {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** The goal; '' without one. */
  readonly goal: string
}

/** One line of the population's table, as it is shown. */
export interface TableRow {
  readonly work: string
  readonly rate: string
  /** The rate in hundredths of the bare route's. */
  readonly ofBare: string
  readonly p50: string
  readonly p99: string
  /** CPU time of one item, µs: HTTP thread, shard, other threads, projector, Postgres, ClickHouse. */
  readonly cpu: string
  readonly goal: string
}

export interface Results {
  readonly area: string
  readonly date: string
  readonly machine: string
  readonly node: string
  readonly commit: string
  /** Other load of the machine: its load average of fifteen minutes when the numbers were recorded. */
  readonly load: number
  readonly rows: readonly Measured[]
  /** Output of a benchmark, by its file, where it measures no single number. */
  readonly printed: Readonly<Record<string, readonly string[]>>
  /** The population's table. */
  readonly table?: readonly TableRow[]
}

const resultsDir = join(root, 'bench', 'results')
const page = join(root, 'bench', 'README.md')
const startMark = '<!-- results -->'
const endMark = '<!-- end of results -->'

/** Keep the results of one area (core, shards, town) and rewrite the page. */
export function record(
  area: string,
  rows: readonly Measured[],
  printed: Readonly<Record<string, readonly string[]>> = {},
  table: readonly TableRow[] = [],
): void {
  const results: Results = { area, ...surroundings(), rows, printed, table }
  mkdirSync(resultsDir, { recursive: true })
  writeFileSync(join(resultsDir, `${area}.json`), `${JSON.stringify(results, null, 2)}\n`)
  writePage()
  if (area === 'town') writeNumbers(results)
}

function surroundings() {
  const processors = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: `${processors.length} × ${processors[0]?.model.trim() ?? 'unknown'}, ${memory} GiB, ${systemName()} ${release()}`,
    node: process.version,
    commit: commitOf(),
    load: Math.round(loadavg()[2]! * 10) / 10,
  }
}

function commitOf(): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
  try {
    const changed = git('status', '--porcelain', '--', 'src', 'workers', 'schemas') !== ''
    return git('rev-parse', '--short', 'HEAD') + (changed ? ' and changes' : '')
  } catch {
    return 'unknown'
  }
}

function writePage(): void {
  const isTown = (name: string) => Number(name === 'town.json')
  const files = readdirSync(resultsDir)
    .filter(name => name.endsWith('.json'))
    .sort((a, b) => isTown(b) - isTown(a) || (a < b ? -1 : 1))
  const all = files.map(name => JSON.parse(readFileSync(join(resultsDir, name), 'utf8')) as Results)
  const sections = all.map(sectionOf).join('\n')
  writeBetween(page, startMark, endMark, `\n\n${sections}\n`)
}

const numbersMarks = ['<!-- numbers -->', '<!-- end of numbers -->'] as const

function writeNumbers(results: Results): void {
  writeBetween(join(root, 'README.md'), ...numbersMarks, numbersOf(results))
}

// Only the text between the marks is generated.
function writeBetween(path: string, start: string, end: string, written: string): void {
  const text = readFileSync(path, 'utf8')
  const from = text.indexOf(start)
  const to = text.indexOf(end)
  if (from < 0 || to < from) throw new Error(`${path} lacks its marks`)
  writeFileSync(path, text.slice(0, from) + start + written + text.slice(to))
}

const unmeasured = `
\`npm run bench -- town\` measures 10,000 companies and 20,000 users with 50 flags, three plans of 25 entitlements and a new idempotency key on every event, beside a bare route of the same HTTP library, and writes its table here. It has not been recorded since it was made.
`

/** Rows that README.md shows: ten at most. bench/README.md has all. */
const inReadme =
  /^(one flag|all 50 flags|one event|batches of|`GET \/companies\/lookup|`POST \/companies|checks at \d+\/s while)/

/** The sentence in README.md about the results of `town`; null before there are any. */
export function numbersOf(results: Results | null): string {
  if (results === null) return unmeasured
  const { date, commit, machine, load, table = [] } = results
  const lines = table
    .filter(({ work }) => inReadme.test(work))
    .map(
      ({ work, rate, ofBare, p50, p99, goal }) =>
        `| ${work} | ${rate} | ${ofBare} | ${p50} | ${p99} | ${goal} |`,
    )
  return `
Measured by \`npm run bench -- town\` on ${date} (commit ${commit}) on ${machine}, the load generator on the same machine, load average ${load}. The town: 10,000 companies and 20,000 users, 50 flags, three plans of 25 entitlements, a new idempotency key on every event, definitions that change meanwhile. [bench/README.md](bench/README.md) has all of it.

| work | rate | of a bare route | p50 | p99 (times the bare route's) | goal |
|---|---:|---:|---:|---:|---|
${lines.join('\n')}

A bare route: the same HTTP library reading the same requests and writing replies of the same size, and doing nothing.
`
}

/** Areas whose name does not say what they are. */
const titles: Readonly<Record<string, string>> = {
  http: 'http: constant (one request again and again: a ceiling)',
}

function sectionOf({ area, date, machine, node, commit, load, rows, printed, table = [] }: Results): string {
  const lines = [
    `### ${titles[area] ?? area}`,
    '',
    `${date}, commit ${commit}, Node ${node}, ${machine}, load average ${load}`,
    '',
  ]
  if (rows.length > 0) {
    lines.push('| measured | value | goal |', '|---|---:|---|')
    for (const { name, value, unit, goal } of rows) {
      lines.push(`| ${name} | ${value.toLocaleString('en')} ${unit} | ${goal} |`)
    }
    lines.push('')
  }
  if (table.length > 0) {
    lines.push(
      'CPU: µs of one item by HTTP thread / shard / other threads / projector / Postgres / ClickHouse.',
      '',
    )
    lines.push('| work | rate | of bare | p50 | p99 | CPU | goal |', '|---|---:|---:|---:|---:|---:|---|')
    for (const { work, rate, ofBare, p50, p99, cpu, goal } of table)
      lines.push(`| ${work} | ${rate} | ${ofBare} | ${p50} | ${p99} | ${cpu} | ${goal} |`)
    lines.push('')
  }
  for (const [file, text] of Object.entries(printed)) lines.push(`\`${file}\``, '', '```', ...text, '```', '')
  return lines.join('\n')
}
