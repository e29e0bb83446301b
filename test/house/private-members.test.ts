// One form of private members in a file: `private x` or `#x`.
import t from 'tap'
import ts from 'typescript'
import { filesUnder, read } from './source.js'

interface Members {
  /** Members with the keyword, parameter properties too. */
  readonly keyword: readonly string[]
  /** Members whose names begin with #. */
  readonly hash: readonly string[]
}

/** Private members of all classes of a file. A constructor is none: only the keyword makes it private. */
function privateMembers(path: string, text: string): Members {
  const keyword: string[] = []
  const hash: string[] = []
  const visit = (node: ts.Node): void => {
    const isMember = (ts.isClassElement(node) && !ts.isConstructorDeclaration(node)) || ts.isParameter(node)
    if (isMember && node.name !== undefined) {
      const name = node.name.getText()
      if (ts.isPrivateIdentifier(node.name)) hash.push(name)
      else if (ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Private) keyword.push(name)
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true))
  return { keyword, hash }
}

t.test('no file mixes both forms of private members', async t => {
  const files = filesUnder(['src', 'workers', 'clients/typescript/src', 'test', 'bench'], '.ts')
  const members = files.map(path => ({ path, ...privateMembers(path, read(path)) }))
  t.same(
    members.filter(({ keyword, hash }) => keyword.length > 0 && hash.length > 0),
    [],
  )
  t.ok(members.some(({ keyword }) => keyword.length > 0) && members.some(({ hash }) => hash.length > 0))
})

t.test('members of both forms are found, and a private constructor is none', async t => {
  const found = privateMembers(
    'a.ts',
    `class A {
      #a = 1
      static readonly #b = 2
      private readonly c = 3
      private d(): void {}
      private constructor(private readonly e: string, readonly f: string) {}
      get #g(): number { return 1 }
      #h(): void { this.#a = 2 }
      protected i = 1
    }`,
  )
  t.same(found, { keyword: ['c', 'd', 'e'], hash: ['#a', '#b', '#g', '#h'] })
})
