// The tables of defects and security findings name tests that exist.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { read, root } from './source.js'

const exactness = 'docs/exactness-tests.md'
const tables = [exactness, 'docs/security-tests.md']

/** The rows of the tables of a page: cells without the outer bars. */
const rowsOf = (page: string): string[][] =>
  read(page)
    .split('\n')
    .filter(line => /^\| (?!---)/.test(line) && !/\| tests \|$/.test(line))
    .map(line =>
      line
        .slice(1, -1)
        .split('|')
        .map(cell => cell.trim()),
    )

for (const page of tables)
  t.test(`${page}: every row names test files that exist`, async t => {
    const rows = rowsOf(page)
    t.ok(rows.length > 30)
    const faults = rows.flatMap(cells => {
      const named = [...cells.at(-1)!.matchAll(/[\w./-]+\.test\.ts/g)].map(([path]) => path)
      if (named.length === 0) return [`${cells[0]}: no test`]
      return named.filter(path => !existsSync(join(root, 'test', path))).map(path => `${cells[0]}: ${path}`)
    })
    t.same(faults, [])
  })

t.test(`${exactness}: every defect from 1 to 20, and titles that stand in their files`, async t => {
  const rows = rowsOf(exactness)
  const numbers = rows.map(([first]) => Number(first)).filter(number => !Number.isNaN(number))
  t.same(
    numbers,
    Array.from({ length: 20 }, (_, i) => i + 1),
  )
  t.equal(rows.length - numbers.length, 38, 'statements')
  // Titles from the rows of another page have no text of their own in the test.
  const emptyFields = read('docs/empty-fields.md').replaceAll('`', '')
  const faults = rows.flatMap(cells => {
    const tests = cells.at(-1)!.split(/; (?=`)/)
    return tests.flatMap(one => {
      const [, path, title] = /^`([\w./-]+)` "(.+)"$/.exec(one) ?? []
      if (path === undefined || title === undefined) return [`not a file and a title: ${one}`]
      const source = read(`test/${path}`)
      const [object, field] = title.split(': ')
      const isRow = path === 'wire/empty-fields.test.ts' && emptyFields.includes(`| ${object} | ${field} |`)
      return isRow || source.includes(title) ? [] : [`${path} has no "${title}"`]
    })
  })
  t.same(faults, [])
})
