#!/usr/bin/env node
// Prints the operations that are served and that no test of a run called: each answer of a test is held against the
// specification, so the members of these are unchecked.
//   TOLLGATE_COVERED_FILE=$PWD/data/covered npm test && node tools/covered.mjs data/covered
import { readFileSync } from 'node:fs'
import { titleOf } from '../dist/src/serve/openapi/openapi.js'
import { routes } from '../dist/src/serve/routes.js'

const { endpoints } = JSON.parse(
  readFileSync(new URL('../test/fixtures/interface.json', import.meta.url), 'utf8'),
)
const answered = new Set(readFileSync(process.argv[2] ?? 'data/covered', 'utf8').split('\n'))
const shape = title => title.replaceAll(/\{[^}]+\}/g, '{}')
const served = new Set(routes.map(route => shape(titleOf(route))))
const asked = endpoints.filter(({ method, path }) => served.has(shape(`${method} ${path}`)))
const missing = asked.filter(({ method, path }) => !answered.has(`${method} ${path}`))
for (const { tag, method, path } of missing) console.log(`${tag.padEnd(4)}  ${method.padEnd(6)} ${path}`)
console.log(`${missing.length} of ${asked.length} were answered in no test`)
process.exitCode = missing.length > 0 ? 1 : 0
