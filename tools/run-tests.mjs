#!/usr/bin/env node
// Runs compiled test files, a few at a time, and prints their results: a line per file, every failed assertion with its
// details, its rule and the command that repeats it, every skip with its reason. The closing line `N passed, N failed`
// goes to the file TEST_SUMMARY_FILE where one is named. Most files follow each other in a few processes
// (tools/test-process.mjs); a process whose file failed takes no further one.
//   node tools/run-tests.mjs FILE…
// TEST_JOBS: how many files at a time. TEST_REPEAT: the command that a failure repeats with its file appended.
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { Parser } from 'tap-parser'

/** Files of these folders take longest and begin first, so that none of them is left over at the end. */
const longest = [
  'faults',
  'cluster',
  'laws',
  'hostile',
  'upgrade',
  'wire',
  'workers',
  'cli',
  'examples',
  'clients',
  'api',
]
/** Files of these folders have a process to themselves: they kill, measure, fill memory, or change clocks and timers. */
const alone = [
  'faults',
  'cluster',
  'laws',
  'hostile',
  'upgrade',
  'cli',
  'examples',
  'clients',
  'host',
  'tools',
]
/** A process takes so many files at most: what they load stays in its memory. */
const filesPerProcess = 16
/** How long a process may take to end when it has no more files. */
const endMs = 60_000
/** How long it may take after a file of it failed, which may have left something open. */
const endFailedMs = 5_000
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
const ruleId = /\b(?:(?:FE|EN|CR|EV|US|CU|PB|AL|RA|CA|MI|EX|ER|BU)-\d+|decision \d+)\b/g
const rulesFolder = new URL('../docs/rules/', import.meta.url)

const testHooks = new URL('test-hooks.mjs', import.meta.url).href
const testProcess = fileURLToPath(new URL('test-process.mjs', import.meta.url))
/** Stands for a file that crashed or ran out of time, and may have no failed assertion to show. */
const wholeFile = { fullname: '', name: '' }

const { TEST_SUMMARY_FILE, TEST_REPEAT = 'npm test --', TEST_JOBS, ...environment } = process.env
const counts = { passed: 0, failed: 0 }
const waiting = process.argv.slice(2).toSorted((a, b) => rank(a) - rank(b))
const running = new Set()
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    waiting.length = 0
    for (const child of running) child.kill(signal)
  })

function rank(file) {
  const at = longest.findIndex(folder => file.includes(`/test/${folder}/`))
  return at === -1 ? longest.length : at
}

/** One file after the other, in the same process where both may share one. */
async function work() {
  let shared = null
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
    if (isAlone(file)) {
      await new TestProcess(file).run(file)
      continue
    }
    shared ??= new TestProcess()
    await shared.run(file)
    if (!shared.failed && shared.files < filesPerProcess) continue
    await shared.end()
    shared = null
  }
  await shared?.end()
}

function isAlone(file) {
  return alone.some(folder => file.includes(`/test/${folder}/`))
}

/** The settings that limit the time of a file: of its group where it shares a process. */
function timeLimit(shared) {
  return shared
    ? { TAP: '1', TAP_TIMEOUT: '0', TEST_FILE_TIMEOUT_MS: String(timeoutSeconds * 1_000) }
    : { TAP: '1', TAP_TIMEOUT: String(timeoutSeconds) }
}

/** A process that runs files one after the other, or only the one that it is made for. */
class TestProcess {
  files = 0
  failed = false
  #file = ''
  #fileFailed = false
  #seen = 0
  #fileEnded = null
  #child
  #closed
  #parser
  #parsed

  constructor(only = null) {
    this.#child = spawn(
      process.execPath,
      ['--enable-source-maps', '--import', testHooks, only ?? testProcess],
      {
        stdio: [only === null ? 'pipe' : 'ignore', 'pipe', 'inherit'],
        env: { ...environment, ...timeLimit(only === null) },
      },
    )
    this.#closed = new Promise(resolve => this.#child.on('close', (...how) => resolve(how)))
    this.#parser = new Parser(only === null ? {} : { name: only })
    this.#parsed = new Promise(resolve => this.#parser.on('complete', resolve))
    running.add(this.#child)
    // it may be gone already
    this.#child.stdin?.on('error', () => {})
    this.#child.stdout.pipe(this.#parser)
    this.#parser.on('result', result => this.#isGroup(result) || this.#seen++)
    this.#parser.on('pass', result => this.#isGroup(result) || counts.passed++)
    this.#parser.on('fail', result => this.#tell(result, result.diag))
    this.#parser.on('todo', result => this.#tell(result, { message: 'left to do' }))
    this.#parser.on('skip', result => {
      // A skip says why, or it is a hole.
      if (typeof result.skip === 'string')
        console.log(`skipped: ${titleOf(this.#file, result)}: ${result.skip}`)
      else this.#tell(result, { message: 'skipped without a reason' })
    })
    this.#parser.on('bailout', reason => this.#tell({ fullname: 'bail out', name: '' }, { message: reason }))
    // the result of a file comes after all of what is in it; a file alone ends with its process
    if (only === null) this.#parser.on('assert', result => this.#fileEnded?.(result))
  }

  /** Run one file and count its assertions. */
  async run(file) {
    const beganMs = performance.now()
    this.files++
    this.#file = file
    this.#fileFailed = false
    this.#seen = 0
    const ended = new Promise(resolve => {
      this.#fileEnded = resolve
    })
    this.#child.stdin?.write(`${file}\n`)
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), killMs)
    const result = await Promise.race([ended, this.#closed.then(() => this.#parsed).then(() => null)])
    this.#fileEnded = null
    clearTimeout(timer)
    if (result === null) await this.#left()
    else if (!this.#fileFailed && !result.ok) this.#tell(wholeFile, { message: 'it did not end well' })
    if (!this.#fileFailed && this.#seen === 0) this.#tell(wholeFile, { message: 'it asserts nothing' })
    const seconds = ((performance.now() - beganMs) / 1_000).toFixed(1)
    console.log(`${this.#fileFailed ? 'FAILED' : 'ok    '} ${file} (${seconds} s)`)
    this.#fileFailed = false
  }

  /** Let it end, after its last file. */
  async end() {
    this.#child.stdin.end()
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), this.failed ? endFailedMs : endMs)
    await this.#left()
    clearTimeout(timer)
  }

  /** Wait until it is gone; a crash is a failure of its last file, unless it had one already. */
  async #left() {
    const [exitCode, signal] = await this.#closed
    running.delete(this.#child)
    const { ok } = await this.#parsed
    if (this.failed || (ok && exitCode === 0)) return
    this.#tell(wholeFile, { message: 'it did not end well', exitCode, signal })
  }

  /** Whether a result is that of the whole file: it is told as one of its assertions where there is none in it. */
  #isGroup({ fullname }) {
    return fullname === this.#file
  }

  #tell(result, details) {
    this.failed = true
    this.#fileFailed = true
    counts.failed++
    fail(this.#file, result, details)
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

await Promise.all(Array.from({ length: Number(TEST_JOBS ?? availableParallelism()) }, work))
const line = `${counts.passed} passed, ${counts.failed} failed`
if (TEST_SUMMARY_FILE) writeFileSync(TEST_SUMMARY_FILE, line)
else console.log(line)
process.exitCode = counts.failed === 0 ? 0 : 1
