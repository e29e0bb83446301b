#!/usr/bin/env node
// Writes the types of the client's calls from the OpenAPI document: clients/typescript/src/api-types.ts.
// `--check`: writes nothing and fails when the file is not what the document makes.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import openapiTs, { astToString } from 'openapi-typescript'

const target = fileURLToPath(new URL('../clients/typescript/src/api-types.ts', import.meta.url))
const { openApi } = await import('../dist/src/serve/openapi/openapi.js')
const { routes } = await import('../dist/src/serve/routes.js')

/** @returns {Promise<string>} */
export async function apiTypes() {
  const ast = await openapiTs(JSON.parse(JSON.stringify(openApi(routes))), { alphabetize: true })
  return `// Made by tools/client-types.mjs from the OpenAPI document; a test holds the two together.\n${shortened(astToString(ast))}`
}

/**
 * Sorted unions, because the document's order of words has no meaning; no descriptions and no `never` members: they
 * would be two thirds of the file.
 */
function shortened(text) {
  return text
    .replaceAll(/^\s*\/\*\*[\s\S]*?\*\/\n/gm, '')
    .replaceAll(/^\s*\w+\?: never;\n/gm, '')
    .replaceAll(/^( *)(parameters: )\{\n\s*\};$/gm, '$1$2{};')
    .replaceAll(/"[^"\n]*"(?: \| "[^"\n]*")+/g, words => words.split(' | ').sort().join(' | '))
    .replaceAll('    ', '  ')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const made = await apiTypes()
  if (process.argv.includes('--check')) {
    if (readFileSync(target, 'utf8') === made) process.exit(0)
    console.error('clients/typescript/src/api-types.ts is not current: run node tools/client-types.mjs')
    process.exit(1)
  }
  writeFileSync(target, made)
}
