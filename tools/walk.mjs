#!/usr/bin/env node
// How many functions, in how many files, one request calls: node tools/walk.mjs [--list] [FOLDER]. It starts the built service
// (of another checkout, where FOLDER names one), counts every call in every thread while one request is answered, and leaves out
// calls that an idle interval of the same length has too. It then lists functions of more than 80 lines and classes of more than 20 fields.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { Agent, request } from 'node:http'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { threadId } from 'node:worker_threads'

const own = fileURLToPath(import.meta.url)
/** Where each bundle's parts begin. */
const bundles = new Map()
const folder = process.env.BENCH_WALK_DIR
if (folder !== undefined) await count(folder)
else await main()

/** In a thread of the service: take the counts whenever the walker asks for them. */
async function count(into) {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  let taken = 0
  setInterval(async () => {
    if (!existsSync(join(into, `take-${taken + 1}`))) return
    taken++
    const { result } = await session.post('Profiler.takePreciseCoverage')
    const calls = result
      .filter(({ url }) => url.includes('/dist/') && !url.endsWith('walk.mjs'))
      .flatMap(({ url, functions }) =>
        functions
          .filter(({ ranges, functionName }) => ranges[0].count > 0 && functionName !== '')
          .map(({ functionName, ranges }) => [url, functionName, ranges[0].startOffset, ranges[0].count]),
      )
    const file = join(into, `${taken}-${threadId}`)
    writeFileSync(`${file}.part`, JSON.stringify(calls))
    renameSync(`${file}.part`, `${file}.json`)
  }, 10).unref()
}

async function main() {
  const words = process.argv.slice(2)
  const list = words.includes('--list')
  const root = resolve(words.find(word => !word.startsWith('--')) ?? join(own, '../..'))
  const { startProduct, secret, stop } = await import(join(root, 'dist/bench/product.js'))
  const { prepare } = await import(join(root, 'dist/bench/http/scenarios.js'))
  const work = mkdtempSync(join(tmpdir(), 'tollgate-walk-'))
  const shared = join(work, 'counts')
  mkdirSync(shared)
  process.env.BENCH_WALK_DIR = shared
  const settings = { TOLLGATE_SHARDS: '1', TOLLGATE_FLAG_CHECK_ROWS_PER_SECOND: '0' }
  const flags = ['--import', pathToFileURL(own).href]
  const { child, port } = await startProduct(join(work, 'data'), settings, flags, root)
  try {
    await prepare(port)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const send = (path, body) => sent(port, secret, agent, path, body)
    let asked = 0
    const check = () =>
      send('/flags/bench-flag/check', `{"company":{"id":"acme-corporation-1"}${' '.repeat(++asked)}}`)
    const again = () => send('/flags/bench-flag/check', '{"company":{"id":"acme-corporation-1"}}')
    const event = () =>
      send(
        '/events',
        JSON.stringify({
          event_type: 'track',
          idempotency_key: `walk-${++asked}`,
          body: { event: 'api_call', company: { id: 'acme-corporation-1' } },
        }),
      )
    const take = taker(shared)
    const walks = [
      ['a check from its shard', check, check, 120, 30],
      ['a check answered again', again, again, 30, 10],
      ['an event with its key', event, event, 180, 35],
    ]
    for (const [name, before, walk, functionsMax, filesMax] of walks) {
      const found = await measured(take, before, walk)
      tell(root, name, found, functionsMax, filesMax, list)
    }
    agent.destroy()
  } finally {
    await stop(child)
    rmSync(work, { recursive: true, force: true })
  }
  await sizes(root)
}

/** The functions that are called in each of some intervals with a request, more often than in any without one. */
async function measured(take, before, walk) {
  const rounds = 4
  const [idle, busy] = [[], []]
  for (let i = 0; i < 20; i++) await before()
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < 3; i++) await before()
    await take()
    idle.push(await within(take, async () => {}))
    // answers are kept for five seconds
    for (let i = 0; i < 3; i++) await before()
    await take()
    busy.push(await within(take, walk))
  }
  const least = new Map(busy[0])
  for (const round of busy)
    for (const [key, value] of least) least.set(key, Math.min(value, round.get(key) ?? 0))
  for (const [key, value] of least)
    if (value === 0 || value <= Math.max(...idle.map(round => round.get(key) ?? 0))) least.delete(key)
  return [...least.keys()]
}

async function within(take, work) {
  await work()
  await sleep(60)
  return take()
}

/** Asks all threads for their counts since the last time: by thread, file, place and name. */
function taker(shared) {
  let taken = 0
  let threads = 0
  return async () => {
    taken++
    writeFileSync(join(shared, `take-${taken}`), '')
    const counts = new Map()
    const written = () =>
      readdirSync(shared).filter(one => one.startsWith(`${taken}-`) && one.endsWith('.json'))
    // the first time shows how many threads there are
    if (taken === 1) await sleep(3_000)
    while (written().length < threads) await sleep(5)
    threads ||= written().length
    for (const name of written()) {
      const thread = name.slice(`${taken}-`.length, -'.json'.length)
      for (const [url, called, at, count] of JSON.parse(readFileSync(join(shared, name), 'utf8')))
        counts.set(JSON.stringify([thread, url, at, called]), count)
    }
    return counts
  }
}

function sent(port, key, agent, path, body) {
  return new Promise((resolve, reject) => {
    const headers = {
      'X-Service-Api-Key': key,
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
    }
    const asking = request({ port, host: '127.0.0.1', agent, path, method: 'POST', headers }, answer => {
      let text = ''
      answer.on('data', chunk => {
        text += chunk
      })
      answer.on('end', () =>
        answer.statusCode < 300 ? resolve(text) : reject(new Error(`${path}: ${text}`)),
      )
    })
    asking.on('error', reject)
    asking.end(body)
  })
}

/** The source of a function: a file of its own, or a part of a bundle, which names its parts in comments. */
function fileOf(root, url, at) {
  const path = fileURLToPath(url)
  if (!path.includes('/served/')) return relative(join(root, 'dist'), path)
  if (!bundles.has(path)) {
    const text = readFileSync(path, 'utf8')
    bundles.set(
      path,
      [...text.matchAll(/^\/\/ (\S+\.js)$/gm)].map(({ index, 1: name }) => [index, name]),
    )
  }
  const part = bundles.get(path).findLast(([from]) => from <= at)
  return part === undefined ? relative(root, path) : part[1].replace(/^dist\//, '')
}

function tell(root, name, keys, functionsMax, filesMax, list) {
  const walk = keys
    .map(key => JSON.parse(key))
    .map(([thread, url, at, called]) => [thread, fileOf(root, url, at), called])
  // the projector follows; nobody waits for it
  const counted = walk.filter(([, file]) => !/projector|seen|storage|analytics/.test(file))
  const files = new Set(counted.map(([thread, file]) => `${thread} ${file}`))
  const verdict = counted.length <= functionsMax && files.size <= filesMax ? 'met' : 'missed'
  const first = counted.filter(([thread]) => thread === '0').length
  console.log(
    `${name}: ${counted.length} functions in ${files.size} files (front ${first}, shard ${counted.length - first}); goal ${functionsMax} in ${filesMax}: ${verdict}`,
  )
  if (!list) return
  for (const file of [...files].sort())
    console.log(
      `  ${file}: ${counted
        .filter(([thread, path]) => `${thread} ${path}` === file)
        .map(([, , called]) => called)
        .join(', ')}`,
    )
}

/** Long functions, and classes of many fields. */
async function sizes(root) {
  const { default: ts } = await import('typescript')
  const [long, wide] = [[], []]
  const under = from =>
    readdirSync(from, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile() && entry.name.endsWith('.ts'))
      .map(entry => join(entry.parentPath ?? entry.path, entry.name))
  for (const path of ['src', 'workers'].flatMap(part => under(join(root, part)))) {
    const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true)
    const line = at => source.getLineAndCharacterOfPosition(at).line
    const name = node => `${relative(root, path)} ${node.name?.getText(source) ?? ''}`.trim()
    const visit = node => {
      if (ts.isFunctionLike(node) && node.body) {
        const lines = line(node.end) - line(node.getStart(source)) + 1
        if (lines > 80) long.push(`${lines} lines: ${name(node)}`)
      }
      if (ts.isClassLike(node)) {
        const isField = member => ts.isPropertyDeclaration(member) && !isConstantOf(member)
        const isConstantOf = member => member.modifiers?.some(one => one.kind === ts.SyntaxKind.StaticKeyword)
        const made = node.members.find(ts.isConstructorDeclaration)?.parameters ?? []
        const fields =
          node.members.filter(isField).length + made.filter(one => one.modifiers?.length > 0).length
        if (fields > 20) wide.push(`${fields} fields: ${name(node)}`)
      }
      ts.forEachChild(node, visit)
    }
    visit(source)
  }
  for (const [what, found] of [
    ['functions of more than 80 lines', long],
    ['classes of more than 20 fields', wide],
  ])
    console.log(`${what}: ${found.length}${found.map(one => `\n  ${one}`).join('')}`)
}
