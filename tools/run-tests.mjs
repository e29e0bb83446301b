#!/usr/bin/env node
// Runs compiled test files, a few at a time, each in a process of its own, and prints their results: a line per file,
// every failed assertion with its details, its rule and the command that repeats it, every skip with its reason. The
// closing line `N passed, N failed` goes to the file TEST_SUMMARY_FILE where one is named.
//   node tools/run-tests.mjs FILE…
// TEST_JOBS: how many files at a time. TEST_REPEAT: the command that a failure repeats with its file appended.
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { Parser } from 'tap-parser'

/** Files of these folders take longest and begin first, so that none of them is left over at the end. */
const longest = [
  'faults',
  'cluster',
  'laws',
  'hostile',
  'upgrade',
  'wire',
  'cli',
  'examples',
  'clients',
  'api',
]
/** Laws run so many times as often (test/random.ts). */
const longer = Math.max(1, Number(process.env.TOLLGATE_RUNS ?? 1))
/** Time of a file unless it sets another itself, and the time after which a hanging one is killed. */
const timeoutSeconds = 300 * longer
const killMs = 1_200_000 * longer

const shown = [
  'message',
  'diff',
  'found',
  'wanted',
  'expected',
  'actual',
  'signal',
  'exitCode',
  'stack',
  'at',
]
const stackLines = 8
const ruleId = /\b(?:(?:FE|EN|CR|EV|US|CU|PB|AL)-\d+|decision \d+)\b/g
const rulesFolder = new URL('../docs/rules/', import.meta.url)

const { TEST_SUMMARY_FILE, TEST_REPEAT = 'npm test --', TEST_JOBS, ...environment } = process.env
const counts = { passed: 0, failed: 0 }
const waiting = process.argv.slice(2).toSorted((a, b) => rank(a) - rank(b))
const running = new Set()
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    waiting.length = 0
    for (const child of running) child.kill(signal)
  })

await Promise.all(Array.from({ length: Number(TEST_JOBS ?? availableParallelism()) }, work))
const line = `${counts.passed} passed, ${counts.failed} failed`
if (TEST_SUMMARY_FILE) writeFileSync(TEST_SUMMARY_FILE, line)
else console.log(line)
process.exitCode = counts.failed === 0 ? 0 : 1

function rank(file) {
  const at = longest.findIndex(folder => file.includes(`/test/${folder}/`))
  return at === -1 ? longest.length : at
}

/** One file after the other. */
async function work() {
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) await run(file)
}

/** Run one file and count its assertions. */
async function run(file) {
  const beganMs = performance.now()
  const child = spawn(process.execPath, ['--enable-source-maps', file], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...environment, TAP: '1', TAP_TIMEOUT: String(timeoutSeconds) },
  })
  running.add(child)
  const timer = setTimeout(() => child.kill('SIGKILL'), killMs)
  let failed = 0
  let seen = 0
  const parser = new Parser({ name: file })
  parser.on('result', () => seen++)
  parser.on('pass', () => counts.passed++)
  parser.on('fail', result => tell(result, result.diag))
  parser.on('todo', result => tell(result, { message: 'left to do' }))
  parser.on('skip', result => {
    // A skip says why, or it is a hole.
    if (typeof result.skip === 'string') console.log(`skipped: ${titleOf(file, result)}: ${result.skip}`)
    else tell(result, { message: 'skipped without a reason' })
  })
  parser.on('bailout', reason => tell({ fullname: 'bail out', name: '' }, { message: reason }))
  const read = new Promise(resolve => parser.on('complete', resolve))
  child.stdout.pipe(parser)
  const [exitCode, signal] = await new Promise(resolve => child.on('close', (...how) => resolve(how)))
  clearTimeout(timer)
  running.delete(child)
  const { ok } = await read
  const whole = { fullname: '', name: '' }
  // A file that crashed or ran out of time may have no failed assertion to show.
  if (failed === 0 && (!ok || exitCode !== 0))
    tell(whole, { message: 'it did not end well', exitCode, signal })
  if (failed === 0 && seen === 0) tell(whole, { message: 'it asserts nothing' })
  const seconds = ((performance.now() - beganMs) / 1_000).toFixed(1)
  console.log(`${failed === 0 ? 'ok    ' : 'FAILED'} ${file} (${seconds} s)`)

  function tell(result, details) {
    failed++
    counts.failed++
    fail(file, result, details)
  }
}

/** A failure: where, what, which rule, and how to see it again. */
function fail(file, result, details) {
  const title = titleOf(file, result)
  console.log(`\nFAIL ${title}`)
  for (const name of shown) {
    const value = details?.[name]
    if (value === undefined || value === null) continue
    console.log(`${name}: ${indented(text(name, value))}`)
  }
  for (const rule of rulesOf(title)) console.log(`rule: ${rule}`)
  console.log(`repeat: ${repeatOf(file)}`)
}

/** The file, the tests that an assertion is in, and its own name. */
function titleOf(file, { fullname, name }) {
  const inside =
    fullname === file ? '' : fullname.startsWith(`${file} > `) ? fullname.slice(file.length + 3) : fullname
  const parts = [file, inside, inside.endsWith(name) ? '' : name]
  return parts.filter(part => part !== '').join(' > ')
}

/** The rules that the title of a test names, each with its text. */
function rulesOf(title) {
  const ids = new Set(title.match(ruleId))
  if (ids.size === 0) return []
  const lines = readdirSync(rulesFolder).flatMap(page =>
    readFileSync(new URL(page, rulesFolder), 'utf8').split('\n'),
  )
  return [...ids].map(id => {
    const line = lines.find(line => line.includes(`<a id="${id.replace(' ', '-')}"></a>`))
    return line === undefined ? id : line.replace(/^.*<\/a>/, '').replaceAll('**', '')
  })
}

/** The command that runs one compiled test file again with the same choices. */
function repeatOf(file) {
  const { TOLLGATE_SEED: seed } = environment
  const source = file.replace(/^dist\//, '').replace(/js$/, 'ts')
  return `${seed === undefined ? '' : `TOLLGATE_SEED=${seed} `}${TEST_REPEAT} ${source}`
}

function text(name, value) {
  if (name === 'at') return `${value.fileName}:${value.lineNumber}`
  if (name === 'stack') return String(value).trimEnd().split('\n').slice(0, stackLines).join('\n')
  return typeof value === 'string' ? value.trimEnd() : JSON.stringify(value)
}

function indented(value) {
  return value.includes('\n') ? `\n${value.replaceAll(/^/gm, '    ')}` : value
}
