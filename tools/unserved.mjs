#!/usr/bin/env node
// Prints the operations of the specification that are not served, and its mark on them: seed or ext.
import { readFileSync } from 'node:fs'
import { titleOf } from '../dist/src/serve/openapi/openapi.js'
import { routes } from '../dist/src/serve/routes.js'

const endpoints = JSON.parse(
  readFileSync(new URL('../test/fixtures/endpoints.json', import.meta.url), 'utf8'),
)
const shape = title => title.replaceAll(/\{[^}]+\}/g, '{}')
const served = new Set(routes.map(route => shape(titleOf(route))))
const missing = endpoints.filter(({ method, path }) => !served.has(shape(`${method} ${path}`)))
for (const { tag, method, path } of missing) console.log(`${tag.padEnd(4)}  ${method.padEnd(6)} ${path}`)
console.log(`${missing.length} of ${endpoints.length} are not served`)
