// A switch over a closed union names every member: a new condition, effect, message or setting that a place forgets does not
// pass.
import t from 'tap'
import ts from 'typescript'

interface Faults {
  /** It would take a new member in silence. */
  readonly withDefault: readonly string[]
  /** It has a void result, so that the compiler does not miss the members that are absent. */
  readonly incomplete: readonly string[]
  readonly closed: number
}

const { StringLiteral, NumberLiteral, BooleanLiteral, EnumLiteral, Undefined, Null } = ts.TypeFlags
const literal = StringLiteral | NumberLiteral | BooleanLiteral | EnumLiteral | Undefined | Null

const plain = (text: string): string => text.replaceAll(/['"]/g, '')

function faultsOf(program: ts.Program, isChecked: (path: string) => boolean): Faults {
  const checker = program.getTypeChecker()
  const withDefault: string[] = []
  const incomplete: string[] = []
  let closed = 0
  const look = (file: ts.SourceFile, node: ts.SwitchStatement): void => {
    const type = checker.getTypeAtLocation(node.expression)
    const members = type.isUnion() ? type.types : [type]
    if (!members.every(one => (one.flags & literal) !== 0)) return
    closed++
    const at = `${file.fileName}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`
    const { clauses } = node.caseBlock
    if (clauses.some(ts.isDefaultClause)) withDefault.push(at)
    const named = new Set(clauses.filter(ts.isCaseClause).map(one => plain(one.expression.getText())))
    const missing = members.map(one => plain(checker.typeToString(one))).filter(one => !named.has(one))
    if (missing.length > 0) incomplete.push(`${at} without ${missing.join(', ')}`)
  }
  for (const file of program.getSourceFiles()) {
    if (!isChecked(file.fileName)) continue
    const visit = (node: ts.Node): void => {
      if (ts.isSwitchStatement(node)) look(file, node)
      ts.forEachChild(node, visit)
    }
    visit(file)
  }
  return { withDefault, incomplete, closed }
}

t.test('a switch over a closed union has a case for every member, and no default', async t => {
  const { fileNames, options } = ts.getParsedCommandLineOfConfigFile(
    'tsconfig.json',
    {},
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: () => {},
    },
  )!
  const product = /^(?!.*node_modules).*\/(src|workers|clients)\//
  const files = fileNames.filter(path => product.test(path))
  const program = ts.createProgram(files, { ...options, noEmit: true, plugins: [] })
  const faults = faultsOf(program, path => product.test(path) && !path.endsWith('.d.ts'))
  t.ok(faults.closed > 40, 'such switches are found')
  t.same(faults.withDefault, [])
  t.same(faults.incomplete, [])
})

t.test('the faults are found', async t => {
  const text = `type A = 'a' | 'b'
    function f(a: A): void { switch (a) { case 'a': return; default: return } }
    function g(a: A): void { switch (a) { case 'a': return } }
    function h(a: string): void { switch (a) { case 'a': return; default: return } }`
  const host = ts.createCompilerHost({})
  const read = host.getSourceFile
  host.getSourceFile = (name, target, ...rest) =>
    name === 'a.ts' ? ts.createSourceFile(name, text, target) : read(name, target, ...rest)
  const program = ts.createProgram(['a.ts'], { noLib: true, types: [] }, host)
  const faults = faultsOf(program, path => path === 'a.ts')
  t.same(faults, { closed: 2, withDefault: ['a.ts:2'], incomplete: ['a.ts:2 without b', 'a.ts:3 without b'] })
})
