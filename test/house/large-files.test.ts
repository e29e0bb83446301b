// Files over 500 lines stand in docs/large-files.md, each with its reason, and no others do.
import t from 'tap'
import { filesUnder, read } from './source.js'

const listedOver = 500
const list = 'docs/large-files.md'

t.test('the list of files over 500 lines is complete, and names no smaller file', async t => {
  const rows = [...read(list).matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)]
  const folders = ['src', 'workers', 'schemas', 'clients', 'test', 'bench']
  const files = [
    ...filesUnder(folders, '.ts').filter(path => !/node_modules|\/dist\//.test(path)),
    ...filesUnder(['tools'], '.mjs'),
    ...filesUnder(['sql'], '.sql'),
  ]
  const large = files.filter(path => read(path).split('\n').length - 1 > listedOver)
  const listed = rows.map(([, path]) => path!)
  t.same(
    large.filter(path => !listed.includes(path)),
    [],
    `files over ${listedOver} lines that ${list} does not list: split them, or add them with the reason`,
  )
  t.same(
    listed.filter(path => !large.includes(path)),
    [],
    `files in ${list} with ${listedOver} lines or fewer, or gone: remove their rows`,
  )
  t.equal(new Set(listed).size, listed.length, 'each once')
  t.ok(
    rows.every(([, , reason]) => reason!.trim().length > 0),
    'each with its reason',
  )
})
