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
  /** What architecture.md asks for; '' without a goal. */
  readonly goal: string
}

export interface Results {
  readonly area: string
  readonly date: string
  readonly machine: string
  readonly node: string
  readonly commit: string
  /** What else the machine did: its load average of fifteen minutes when the numbers were kept. */
  readonly load: number
  readonly rows: readonly Measured[]
  /** What a benchmark printed, by its file, where it measures no single number. */
  readonly printed: Readonly<Record<string, readonly string[]>>
}

const resultsDir = join(root, 'bench', 'results')
const page = join(root, 'bench', 'README.md')
const startMark = '<!-- results -->'
const endMark = '<!-- end of results -->'

/** Keep the results of one area (core, shards, http) and rewrite the page. */
export function record(
  area: string,
  rows: readonly Measured[],
  printed: Readonly<Record<string, readonly string[]>> = {},
): void {
  const results: Results = { area, ...surroundings(), rows, printed }
  mkdirSync(resultsDir, { recursive: true })
  writeFileSync(join(resultsDir, `${area}.json`), `${JSON.stringify(results, null, 2)}\n`)
  writePage()
  if (area === 'http') writeNumbers(results)
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
  const files = readdirSync(resultsDir).filter(name => name.endsWith('.json'))
  const all = files.map(name => JSON.parse(readFileSync(join(resultsDir, name), 'utf8')) as Results)
  const sections = all.map(sectionOf).join('\n')
  writeBetween(page, startMark, endMark, `\n\n${sections}\n`)
}

const numbersMarks = ['<!-- numbers -->', '<!-- end of numbers -->'] as const

function writeNumbers(results: Results): void {
  writeBetween(join(root, 'README.md'), ...numbersMarks, numbersOf(results))
}

// Only what is between the marks is ours to write.
function writeBetween(path: string, start: string, end: string, written: string): void {
  const text = readFileSync(path, 'utf8')
  const from = text.indexOf(start)
  const to = text.indexOf(end)
  if (from < 0 || to < from) throw new Error(`${path} lacks its marks`)
  writeFileSync(path, text.slice(0, from) + start + written + text.slice(to))
}

/** What README.md says of the results of `http`. */
export function numbersOf({ date, commit, machine, load, rows }: Results): string {
  const find = (name: string) => rows.find(one => one.name.startsWith(name))
  const told = (name: string, text: string, each = 1): readonly string[] => {
    const [rate, p50, p99] = ['', ': p50', ': p99'].map(what => find(name + what)?.value)
    const cpu = find(`${name}: CPU of the HTTP thread`)?.value
    const share = find(`${name}: share`)
    if (rate === undefined || cpu === undefined || share === undefined) return []
    const perSecond = (Math.round(rate / 100) * 100).toLocaleString('en')
    const ofBare = share.goal === '' ? '' : `${share.value} % (${share.goal})`
    return [`| ${text} | ${perSecond} | ${p50} ms | ${p99} ms | ${(cpu / each).toFixed(1)} µs | ${ofBare} |`]
  }
  const lines = [
    ...told('flag check, 2 rules / 3 conditions', 'flag check, 2 rules, 3 conditions'),
    ...told('one event, durable', 'one event, durable when acknowledged'),
    ...told('batch of 500 events, durable', 'events in batches of 500, durable; times of a batch', 500),
  ]
  return `
Measured by \`npm run bench\` on ${date} (commit ${commit}) on ${machine}, the load generator on the same machine, load average ${load}. [bench/README.md](bench/README.md) has all of it.

| | a second | p50 | p99 | CPU of the HTTP thread, each | of a bare answer's rate (goal) |
|---|---:|---:|---:|---:|---:|
${lines.join('\n')}

A bare answer: the same HTTP library reading and writing as many bytes, and doing nothing.
`
}

function sectionOf({ area, date, machine, node, commit, load, rows, printed }: Results): string {
  const lines = [
    `### ${area}`,
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
  for (const [file, text] of Object.entries(printed)) lines.push(`\`${file}\``, '', '```', ...text, '```', '')
  return lines.join('\n')
}
