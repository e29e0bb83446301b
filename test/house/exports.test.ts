// A file exports what another file uses. A name in no other file is private to its file, or is gone.
import t from 'tap'
import ts from 'typescript'
import { filesUnder, read } from './source.js'

/** Exports that tests alone name and their own file does not use, each with its reason. */
const forTests: Readonly<Record<string, string>> = {
  'src/account/ids.ts drawIdsFrom': 'a seeded run needs the same ids each time',
  'src/core/evaluator/engine-shapes.ts engineCompany': 'the whole that the streamed parts are compared with',
  'src/core/usage/counter.ts newCounter': 'a counter that a test fills alone',
  'src/entities/idempotency/dedupe.ts packClaim': 'claims as the store gives them',
  'src/front/http/apps/native.ts nativePlatforms': 'the platforms whose files are compared with the package',
  'src/serve/openapi/openapi.ts undescribed': 'the routes that the document lacks',
}

/** Names that a file declares with `export`, or passes on from another file by name. */
function exportedNames(path: string, text: string): readonly string[] {
  const names: string[] = []
  ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true).forEachChild(node => {
    if (ts.isExportDeclaration(node)) {
      const clause = node.exportClause
      if (clause !== undefined && ts.isNamedExports(clause))
        names.push(...clause.elements.map(one => one.name.text))
      return
    }
    if (!ts.canHaveModifiers(node)) return
    if (!ts.getModifiers(node)?.some(one => one.kind === ts.SyntaxKind.ExportKeyword)) return
    if (ts.isVariableStatement(node)) {
      for (const { name } of node.declarationList.declarations)
        if (ts.isIdentifier(name)) names.push(name.text)
    } else if (ts.isDeclarationStatement(node) && node.name !== undefined) names.push(node.name.text)
  })
  return names
}

const wordsOf = (text: string): readonly string[] => text.match(/[A-Za-z_$][\w$]*/g) ?? []
const isTest = (path: string): boolean => path.startsWith('test/') || path.startsWith('bench/')

t.test('an export is used by another file, and by more than tests', async t => {
  const product = filesUnder(['src', 'workers', 'schemas'], '.ts')
  const users = filesUnder(['console', 'clients', 'examples', 'test', 'bench'], '.ts')
  const scripts = [...filesUnder(['console'], '.tsx'), ...filesUnder(['tools', 'bin'], '.mjs')]
  /** By word: how often each file has it. */
  const uses = new Map<string, Map<string, number>>()
  for (const path of [...product, ...users, ...scripts])
    for (const word of wordsOf(read(path))) {
      const places = uses.get(word) ?? new Map<string, number>()
      uses.set(word, places)
      places.set(path, (places.get(path) ?? 0) + 1)
    }
  const unused: string[] = []
  const testsAlone: string[] = []
  for (const path of product)
    for (const name of exportedNames(path, read(path))) {
      const places = uses.get(name)!
      const others = [...places.keys()].filter(other => other !== path)
      if (others.length === 0) unused.push(`${path} ${name}`)
      else if (others.every(isTest) && places.get(path) === 1) testsAlone.push(`${path} ${name}`)
    }
  t.same(unused, [], 'make it private, or delete it')
  t.same(testsAlone.sort(), Object.keys(forTests).sort(), 'delete it, or give its reason in this file')
})
