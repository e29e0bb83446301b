// Rules: what code and tests cite stands in docs/rules, and every rule there has a test or a reason.
import t from 'tap'
import { filesUnder, read } from './source.js'

/** Rules that no test can name, with the reason. */
const untestable: Readonly<Record<string, string>> = {
  'FE-3': 'says what a value means',
  'FE-87': 'the interface has no such members; other notations are mapped by their clients',
  'FE-88': 'tells callers what to rely on',
  'CR-1': 'names the figures that every other rule is about',
  'CR-11': 'lists members; the shapes of grants are held by the tests of the document',
  'CR-79': 'is an obligation of callers',
  'CU-38': 'says what there is not',
}

const pages = filesUnder(['docs/rules'], '.md')
const written = new Set(
  pages.flatMap(page => [...read(page).matchAll(/<a id="([^"]+)"><\/a>/g)].map(match => match[1]!)),
)

/** Ids in a text; `CR-50…52` and `CR-50 to CR-52` name all three. */
function cited(text: string): readonly string[] {
  const ids = /\b(FE|EN|CR|EV|US|CU|PB|AL|RA|CA|MI|EX|ER|BU|IM)-(\d+)(?:(?:\.\.\.|…|–| to )(?:\1-)?(\d+))?/g
  return [...text.matchAll(ids)].flatMap(([, prefix, first, last]) => {
    const [from, to] = [Number(first), Number(last ?? first)]
    const range = Array.from({ length: Math.max(1, Math.min(to - from + 1, 40)) }, (_, i) => from + i)
    return range.map(n => `${prefix}-${n}`).filter((id, i) => i === 0 || written.has(id))
  })
}

const sources = ['src', 'workers', 'schemas', 'sql', 'bench', 'test', 'deploy', 'docs']
const files = ['.ts', '.sql', '.md'].flatMap(ending => filesUnder(sources, ending))

t.test('every rule that is cited is written down', async t => {
  t.ok(written.size > 380, `${written.size} rules and decisions`)
  for (const file of files) {
    const text = read(file)
    const decisions = [...text.matchAll(/\bdecisions? (\d+)\b/g)].map(match => `decision-${match[1]}`)
    const missing = [...cited(text), ...decisions].filter(id => !written.has(id))
    if (missing.length > 0) t.fail(`${file} cites what docs/rules does not have: ${[...new Set(missing)]}`)
  }
})

t.test('every rule is named by a test, or says why it cannot be', async t => {
  const vectors = read('test/fixtures/conformance-vectors.json')
  const tests = filesUnder(['test'], '.ts').filter(file => file !== 'test/house/rules.test.ts')
  const named = new Set([vectors, ...tests.map(read)].flatMap(cited))
  for (const id of written) {
    if (id.startsWith('decision-')) continue
    if (id in untestable) t.notOk(named.has(id), `${id} has a test: it is not untestable`)
    else if (!named.has(id)) t.fail(`${id}: no test names it`)
  }
  for (const id of Object.keys(untestable)) t.ok(written.has(id), `${id} is a rule`)
})
