// `tollgate catalog`: the catalogue of an environment as a file, in YAML or JSON.
import { readFile, rename, writeFile } from 'node:fs/promises'
import { parse, stringify } from 'yaml'
import type {
  Catalog,
  CatalogApplied,
  CatalogChange,
  CatalogCompanies,
  CatalogDiff,
  CatalogPublish,
} from '../../schemas/catalog.js'
import type { Client } from './client.js'
import { type Exit, exit, Failure, type Io } from './io.js'

/** Longest list of names in one line. */
const namesMax = 10

interface CatalogOptions {
  readonly prune: boolean
  readonly publish: CatalogPublish | null
}

/** The text of a document. Equal documents have equal text. */
export function catalogText(document: Catalog, format: 'json' | 'yaml'): string {
  if (format === 'json') return `${JSON.stringify(document, null, 2)}\n`
  return `# yaml-language-server: $schema=./catalog.schema.json\n${stringify(document, {
    lineWidth: 0,
    aliasDuplicateObjects: false,
  })}`
}

/** Write the catalogue to a file, or to the terminal without one. The file has its name only when it is whole. */
export async function exportCatalog(
  client: Client,
  { file, format }: { readonly file: string | null; readonly format: 'json' | 'yaml' | null },
  io: Io,
): Promise<Exit> {
  const document = await client.ask<Catalog>('GET', '/catalog')
  const kind = format ?? (file?.endsWith('.json') ? 'json' : 'yaml')
  const text = catalogText(document, kind)
  if (file === null) io.print(text.trimEnd())
  else {
    await writeFile(`${file}.part`, text)
    await rename(`${file}.part`, file)
    io.note(`${file}: ${text.length} characters`)
  }
  return exit.done
}

async function readDocument(file: string): Promise<Catalog> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new Failure(error.message)
  })
  try {
    // the same reader for both: JSON is YAML
    return parse(text, { maxAliasCount: 0 }) as Catalog
  } catch (error) {
    throw new Failure(`${file}: ${(error as Error).message.split('\n')[0]}`)
  }
}

/** Print what applying the file would do. Returns `findings` when anything differs. */
export async function diffCatalog(
  client: Client,
  file: string,
  options: CatalogOptions,
  io: Io,
): Promise<Exit> {
  const body = { catalog: await readDocument(file), ...options }
  const diff = await client.ask<CatalogDiff>('POST', '/catalog/diff', body)
  printDiff(diff, options, io)
  for (const problem of diff.problems) io.print(`! ${problem}`)
  const differs = diff.changes.some(change => change.action !== 'keep')
  if (!differs) io.print('Nothing differs.')
  return diff.problems.length > 0 ? exit.failed : differs ? exit.findings : exit.done
}

/** Apply the file and print what was done. */
export async function applyCatalog(
  client: Client,
  file: string,
  options: CatalogOptions,
  io: Io,
): Promise<Exit> {
  const body = { catalog: await readDocument(file), ...options }
  const applied = await client.ask<CatalogApplied>('POST', '/catalog/apply', body)
  printDiff(applied, options, io)
  const { made, changed, archived } = applied
  io.print(
    made + changed + archived === 0
      ? 'Nothing to do.'
      : `${made} made, ${changed} changed, ${archived} archived.`,
  )
  return exit.done
}

const signs = { archive: '-', change: '~', keep: '=', make: '+' } as const

function printDiff({ changes, companies }: CatalogDiff, { prune }: CatalogOptions, io: Io): void {
  for (const change of changes) {
    io.print(`${signs[change.action]} ${change.section} ${change.name}${remark(change)}`)
    for (const { path, from, to } of change.changes) io.print(`    ${path}: ${shown(from)} → ${shown(to)}`)
    if (change.companies) io.print(`    felt by ${companiesText(change.companies)}`)
  }
  if (!prune && changes.some(change => change.action === 'keep'))
    io.print('= is not in the file and stays; --prune removes it')
  if (companies.count > 0) io.print(`Felt by ${companiesText(companies)}`)
}

function remark({ publishes }: CatalogChange): string {
  if (publishes === undefined) return ''
  return publishes ? ' (published)' : ' (in the draft)'
}

function companiesText({ count, companies }: CatalogCompanies): string {
  if (count === 0) return 'no company'
  const names = companies.slice(0, namesMax).map(one => one.name || one.id)
  const more = count > names.length ? ', …' : ''
  return `${count} ${count === 1 ? 'company' : 'companies'}: ${names.join(', ')}${more}`
}

function shown(value: unknown): string {
  return value === null ? 'none' : JSON.stringify(value)
}
