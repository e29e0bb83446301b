// Keeps what benchmarks measured and writes the table in bench/README.md: numbers, machine, versions, commit.
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

interface Results {
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

// Only what is between the marks is ours to write.
function writePage(): void {
  const text = readFileSync(page, 'utf8')
  const from = text.indexOf(startMark)
  const to = text.indexOf(endMark)
  if (from < 0 || to < from) throw new Error(`${page} lacks its marks`)
  const files = readdirSync(resultsDir).filter(name => name.endsWith('.json'))
  const all = files.map(name => JSON.parse(readFileSync(join(resultsDir, name), 'utf8')) as Results)
  const sections = all.map(sectionOf).join('\n')
  writeFileSync(page, `${text.slice(0, from)}${startMark}\n\n${sections}\n${text.slice(to)}`)
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
