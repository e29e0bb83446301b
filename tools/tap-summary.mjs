#!/usr/bin/env node
// Reporter for tap: a line per test file, every failed assertion with its details, its rule and the command that repeats
// it, every skip with its reason, and the closing line `N passed, N failed`. With TAP_SUMMARY_FILE the closing line goes
// there (tools/test prints it). TAP_REPEAT is the command without files, `npm test --` unless given.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Parser } from 'tap-parser'

const counts = { passed: 0, failed: 0 }
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

let failedBefore = 0
let endedBadly = ''

const parser = new Parser()
parser.on('pass', () => counts.passed++)
parser.on('fail', result => {
  if (result.fullname !== endedBadly) fail(result, result.diag)
})
parser.on('todo', result => fail(result, { message: 'left to do' }))
parser.on('skip', result => {
  // A skip says why, or it is a hole.
  if (typeof result.skip === 'string') console.log(`skipped: ${result.fullname}: ${result.skip}`)
  else fail(result, { message: 'skipped without a reason' })
})
parser.on('bailout', reason => fail({ fullname: 'bail out', name: '' }, { message: reason }))
parser.on('assert', file => {
  // A file that crashed or ran out of time may have no failed assertion to show; where it has one of its own, that
  // comes next and is the same again.
  if (!file.ok && counts.failed === failedBefore) {
    endedBadly = file.fullname
    fail(file, { message: 'it did not end well', ...file.diag })
  }
  failedBefore = counts.failed
  const seconds = ((file.time ?? 0) / 1_000).toFixed(1)
  console.log(`${file.ok ? 'ok    ' : 'FAILED'} ${file.name} (${seconds} s)`)
})
parser.on('complete', () => {
  const line = `${counts.passed} passed, ${counts.failed} failed`
  if (process.env.TAP_SUMMARY_FILE) writeFileSync(process.env.TAP_SUMMARY_FILE, line)
  else console.log(line)
})
process.stdin.pipe(parser)

function fail(result, details) {
  counts.failed++
  console.log(`\nFAIL ${result.fullname}${result.fullname.endsWith(result.name) ? '' : ` > ${result.name}`}`)
  for (const name of shown) {
    const value = details?.[name]
    if (value === undefined || value === null) continue
    console.log(`${name}: ${indented(text(name, value))}`)
  }
  for (const rule of rulesOf(`${result.fullname} ${result.name}`)) console.log(`rule: ${rule}`)
  const file = /\S+\.test\.js/.exec(result.fullname)?.[0]
  if (file !== undefined) console.log(`repeat: ${repeatOf(file)}`)
}

/** The rules that the title of a test names, each with what it says. */
function rulesOf(title) {
  const ids = new Set(title.match(ruleId))
  if (ids.size === 0) return []
  const lines = readdirSync(rulesFolder).flatMap(page => readFileSync(new URL(page, rulesFolder), 'utf8').split('\n'))
  return [...ids].map(id => {
    const line = lines.find(line => line.includes(`<a id="${id.replace(' ', '-')}"></a>`))
    return line === undefined ? id : line.replace(/^.*<\/a>/, '').replaceAll('**', '')
  })
}

/** The command that runs one compiled test file again with the same choices. */
function repeatOf(file) {
  const { TOLLGATE_SEED: seed, TAP_REPEAT: command = 'npm test --' } = process.env
  const source = file.replace(/^dist\//, '').replace(/js$/, 'ts')
  return `${seed === undefined ? '' : `TOLLGATE_SEED=${seed} `}${command} ${source}`
}

function text(name, value) {
  if (name === 'at') return `${value.fileName}:${value.lineNumber}`
  if (name === 'stack') return String(value).trimEnd().split('\n').slice(0, stackLines).join('\n')
  return typeof value === 'string' ? value.trimEnd() : JSON.stringify(value)
}

function indented(value) {
  return value.includes('\n') ? `\n${value.replaceAll(/^/gm, '    ')}` : value
}
