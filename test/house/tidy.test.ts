// Agreements about the text of the code.
import t from 'tap'
import { filesUnder, read } from './source.js'

const linesMax = 700

const made = ['clients/typescript/src/api-types.ts']
const product = filesUnder(['src', 'workers', 'schemas', 'clients/typescript/src'], '.ts').filter(
  path => !made.includes(path),
)
const proof = filesUnder(['test', 'bench'], '.ts')
const statements = filesUnder(['sql'], '.sql')
const tools = [...filesUnder(['tools'], '.mjs'), 'tools/test', '.ci/run']
const written = [...product, ...proof, ...tools]

/** Path and line of the first match in each file that matches. */
function matching(paths: readonly string[], pattern: RegExp): readonly string[] {
  return paths.flatMap(path => {
    const text = read(path)
    const at = text.search(pattern)
    return at < 0 ? [] : [`${path}:${text.slice(0, at).split('\n').length}`]
  })
}

t.test('every file begins with a comment that says what it is', async t => {
  const silent = [...product, ...tools].filter(path => !/^(#!.*\n)?(\/\/ |\/\*\*|# )/.test(read(path)))
  t.same(silent, [])
  t.same(
    statements.filter(path => !read(path).startsWith('-- ')),
    [],
  )
})

t.test('nothing is left to do', async t => {
  // Spelt apart, so that this file does not find itself.
  const words = ['TO+DO', 'FIX+ME', 'XX+X', 'HA+CK'].map(word => word.replace('+', ''))
  t.same(matching([...written, ...statements], new RegExp(`\\b(${words.join('|')})\\b`)), [])
})

t.test('no test runs alone, and none is switched off', async t => {
  t.same(matching(proof, /\b(t|tap)\.only\(|\bonly: true|\bt\.todo\(|\btodo: |\bt\.skip\(|\bskip: true/), [])
})

t.test('the compiler is not talked out of anything', async t => {
  // The linter refuses `any`. Only the product is checked: a test may pass a function a value that its types forbid.
  t.same(matching(product, /@ts-(ignore|nocheck|expect-error)/), [])
})

t.test('nothing is printed but by the programs', async t => {
  const quiet = product.filter(path => path !== 'src/main.ts' && path !== 'src/cli.ts')
  t.same(matching(quiet, /\bconsole\.\w+\(|\bprocess\.std(out|err)\b/), [])
})

t.test('the core reads no clock and no randomness', async t => {
  const core = product.filter(path => path.startsWith('src/core/'))
  t.same(matching(core, /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bperformance\.now\(/), [])
})

t.test('files stay of a size that one can read', async t => {
  t.same(
    product.filter(path => read(path).split('\n').length > linesMax),
    [],
  )
})

/** Text of each comment, its lines joined, with the line where it begins. A label (`errors  …`) begins a new text. */
function comments(path: string): readonly { readonly line: number; readonly text: string }[] {
  const found: { line: number; text: string }[] = []
  let open = false
  for (const [at, line] of read(path).split('\n').entries()) {
    const words = /^\s*(?:\/\/|\/\*\*?|\*)(?!\/)\s?(.*?)\s*(?:\*\/)?$/.exec(line)?.[1]
    const label = words && /^[\w, ]+? {2,}(\S.*)$/.exec(words)?.[1]
    const last = found.at(-1)
    if (words && open && last && !label) last.text += ` ${words}`
    else if (words) found.push({ line: at + 1, text: label ?? words })
    open = !!words
  }
  return found
}

t.test('a sentence of a comment begins with its subject', async t => {
  const start = /(?:^|[.:;?] )(?:Of|Who|Whom|Whose|Whoever|What|Whatever|Those|Nobody)\b/
  t.same(
    [...product, ...proof, ...tools].flatMap(path =>
      comments(path)
        .filter(({ text }) => start.test(text))
        .map(({ line, text }) => `${path}:${line} ${text.slice(0, 60)}`),
    ),
    [],
  )
})

t.test('no comment or title refers to a document outside the repository', async t => {
  // Merged migrations are never edited.
  const outside = /\b(gaps|service|billing|architecture|layout|style|api\/[a-z-]+)\.md\b|\bissue \d/
  const own = 'test/house/tidy.test.ts'
  t.same(
    matching(
      written.filter(path => path !== own),
      outside,
    ),
    [],
  )
})

t.test('lines end as they should', async t => {
  t.same(matching([...written, ...statements], /\r|[ \t]\n|[^\n]$/), [])
})
