// Inputs of each route, read from the sources: body types as the compiler sees them, query shapes as they are written.
// A new route is tested without a change here.
import { dirname, join, relative } from 'node:path'
import ts from 'typescript'
import { filesUnder, read, root } from '../house/source.js'

/** A body or a part of one. */
export type Shape =
  | { readonly kind: 'text' | 'number' | 'boolean' | 'anything' }
  | { readonly kind: 'literal'; readonly value: string | number | boolean | null }
  | { readonly kind: 'list'; readonly of: Shape }
  | { readonly kind: 'record'; readonly of: Shape }
  | { readonly kind: 'object'; readonly members: ReadonlyMap<string, Member> }
  | { readonly kind: 'either'; readonly of: readonly Shape[] }

export interface Member {
  readonly shape: Shape
  readonly optional: boolean
}

/** How a query parameter is declared, by the words of its declaration. */
export interface Parameter {
  readonly name: string
  readonly kind: 'text' | 'list' | 'boolean' | 'time' | 'number' | 'map' | 'word'
  readonly words: readonly string[]
}

/** Inputs of one row of the route table; null: none, or not readable from the sources. */
export interface Takes {
  readonly body: Shape | null
  readonly query: readonly Parameter[]
}

const anything: Shape = { kind: 'anything' }
const nothing: Shape = { kind: 'literal', value: null }
const depthMax = 8

const files = new Map<string, ts.SourceFile>()
/** Interfaces and aliases of schemas/, by name; a name means the same in all of them but `Keys`, which is alike. */
const types = new Map<string, ts.InterfaceDeclaration | ts.TypeAliasDeclaration>()
/** Body type by the name of its parser. */
const parsers = new Map<string, string>()
/** Lists of words, by the name of their constant. */
const wordLists = new Map<string, readonly string[]>()

for (const path of filesUnder(['schemas'], '.ts'))
  for (const statement of source(path).statements) {
    if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement))
      types.set(statement.name.text, statement)
    for (const [name, value] of constants(statement)) {
      const made = /createValidateParse<(\w+)>/.exec(value.getText())?.[1]
      if (made !== undefined) parsers.set(name, made)
      const words = [...value.getText().matchAll(/'([^']*)'/g)].map(match => match[1]!)
      if (value.getText().startsWith('[')) wordLists.set(name, words)
    }
  }

/** Inputs of every row, by `METHOD /path`. */
export function readTakes(): ReadonlyMap<string, Takes> {
  const path = 'src/serve/routes.ts'
  const imported = importsOf(path)
  const rows = new Map<string, Takes>()
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && /^(get|post|put|del)$/.test(node.expression.getText())) {
      const [route, spec] = node.arguments
      if (route && ts.isStringLiteral(route) && spec && ts.isObjectLiteralExpression(spec))
        rows.set(`${node.expression.getText()} ${route.text}`, takesOf(spec, imported))
    }
    ts.forEachChild(node, visit)
  }
  visit(source(path))
  return rows
}

function takesOf(spec: ts.ObjectLiteralExpression, imported: ReadonlyMap<string, string>): Takes {
  let body: Shape | null = null
  let query: readonly Parameter[] = []
  for (const member of spec.properties) {
    if (!ts.isPropertyAssignment(member)) continue
    const text = member.initializer.getText()
    if (member.name.getText() === 'raw') body = text === "'one'" ? oneEvent() : manyEvents()
    if (member.name.getText() === 'body') {
      const type = parsers.get(text.split('.').at(-1)!)
      body = type === undefined ? anything : named(type, 0)
    }
    if (member.name.getText() === 'query') {
      const [room, name] = text.split('.') as [string, string | undefined]
      query = parametersOf(imported.get(room) ?? 'src/serve/routes.ts', name ?? room)
    }
  }
  return { body, query }
}

// ── bodies ─────────────────────────────────────────────────────────────────────────────────────────

function named(name: string, depth: number): Shape {
  const type = types.get(name)
  if (type === undefined || depth > depthMax) return anything
  if (ts.isTypeAliasDeclaration(type)) return shapeOf(type.type, depth)
  const members = new Map<string, Member>()
  for (const clause of type.heritageClauses ?? [])
    for (const { expression } of clause.types) {
      const base = named(expression.getText(), depth + 1)
      if (base.kind === 'object') for (const [key, member] of base.members) members.set(key, member)
    }
  return membersOf(type.members, members, depth)
}

function membersOf(elements: readonly ts.TypeElement[], members: Map<string, Member>, depth: number): Shape {
  for (const element of elements) {
    if (ts.isIndexSignatureDeclaration(element))
      return { kind: 'record', of: shapeOf(element.type, depth + 1) }
    if (ts.isPropertySignature(element) && element.type)
      members.set(element.name.getText(), {
        shape: shapeOf(element.type, depth + 1),
        optional: element.questionToken !== undefined,
      })
  }
  return { kind: 'object', members }
}

function shapeOf(node: ts.TypeNode, depth: number): Shape {
  if (ts.isParenthesizedTypeNode(node)) return shapeOf(node.type, depth)
  if (ts.isTypeOperatorNode(node)) return shapeOf(node.type, depth)
  if (ts.isArrayTypeNode(node)) return { kind: 'list', of: shapeOf(node.elementType, depth + 1) }
  if (ts.isIntersectionTypeNode(node))
    return shapeOf(node.types.find(type => !type.getText().startsWith('tags.')) ?? node.types[0]!, depth)
  if (ts.isUnionTypeNode(node)) {
    const some = node.types.filter(type => type.kind !== ts.SyntaxKind.UndefinedKeyword)
    return { kind: 'either', of: some.map(type => shapeOf(type, depth)) }
  }
  if (ts.isTypeLiteralNode(node)) return membersOf(node.members, new Map(), depth)
  if (ts.isLiteralTypeNode(node)) return literalOf(node.literal)
  if (ts.isIndexedAccessTypeNode(node)) return wordsOf(node.objectType.getText())
  if (ts.isTypeReferenceNode(node)) return referenceOf(node, depth)
  if (node.kind === ts.SyntaxKind.StringKeyword) return { kind: 'text' }
  if (node.kind === ts.SyntaxKind.NumberKeyword) return { kind: 'number' }
  if (node.kind === ts.SyntaxKind.BooleanKeyword) return { kind: 'boolean' }
  return anything
}

function literalOf(node: ts.Node): Shape {
  if (ts.isStringLiteral(node)) return { kind: 'literal', value: node.text }
  if (node.kind === ts.SyntaxKind.TrueKeyword) return { kind: 'literal', value: true }
  if (node.kind === ts.SyntaxKind.FalseKeyword) return { kind: 'literal', value: false }
  return ts.isNumericLiteral(node) ? { kind: 'literal', value: Number(node.text) } : nothing
}

/** `(typeof words)[number]`. */
function wordsOf(text: string): Shape {
  const words = wordLists.get(/typeof (\w+)/.exec(text)?.[1] ?? '') ?? []
  return { kind: 'either', of: words.map(value => ({ kind: 'literal', value })) }
}

function referenceOf(node: ts.TypeReferenceNode, depth: number): Shape {
  const name = node.typeName.getText()
  const [first, second] = node.typeArguments ?? []
  if (name === 'Record' && second) return { kind: 'record', of: shapeOf(second, depth + 1) }
  if ((name === 'Array' || name === 'ReadonlyArray') && first)
    return { kind: 'list', of: shapeOf(first, depth + 1) }
  if (/^(Readonly|Partial|Required|Omit|Pick)$/.test(name) && first) return shapeOf(first, depth)
  return named(name, depth + 1)
}

function oneEvent(): Shape {
  const envelope = named('CreateEventRequestBody', 0)
  if (envelope.kind !== 'object') return anything
  const bodies = ['Track', 'Identify', 'Inference', 'FlagCheck']
  const of = bodies.map(name => {
    const type: Shape = { kind: 'literal', value: name === 'FlagCheck' ? 'flag_check' : name.toLowerCase() }
    const members = new Map(envelope.members)
    members.set('event_type', { shape: type, optional: false })
    members.set('body', { shape: named(`EventBody${name}`, 0), optional: false })
    return { kind: 'object', members } as const
  })
  return { kind: 'either', of }
}

function manyEvents(): Shape {
  const events: Member = { shape: { kind: 'list', of: oneEvent() }, optional: false }
  return { kind: 'object', members: new Map([['events', events]]) }
}

// ── queries ────────────────────────────────────────────────────────────────────────────────────────

function parametersOf(path: string, name: string): readonly Parameter[] {
  const value = constantOf(path, name)
  if (value === null) return []
  const inner = ts.isCallExpression(value) ? value.arguments[0]! : value
  if (ts.isIdentifier(inner)) return parametersOf(path, inner.text)
  const shape = ts.isAsExpression(inner) ? inner.expression : inner
  if (!ts.isObjectLiteralExpression(shape)) return []
  return shape.properties.flatMap((member): readonly Parameter[] => {
    if (ts.isSpreadAssignment(member)) {
      const spread = member.expression.getText()
      return parametersOf(importsOf(path).get(spread) ?? path, spread)
    }
    if (ts.isShorthandPropertyAssignment(member)) return [parameterOf(member.name.text, member.name.text)]
    return ts.isPropertyAssignment(member)
      ? [parameterOf(member.name.getText(), member.initializer.getText())]
      : []
  })
}

function parameterOf(name: string, declared: string): Parameter {
  const words = [...declared.matchAll(/\w+/g)].flatMap(([word]) => wordLists.get(word) ?? [])
  if (words.length > 0 || declared.includes('neOf')) return { name, kind: 'word', words }
  if (/datetime/.test(declared)) return { name, kind: 'time', words }
  if (/boolean/.test(declared)) return { name, kind: 'boolean', words }
  if (/limit|offset|integer/.test(declared)) return { name, kind: 'number', words }
  if (/\bmap/.test(declared)) return { name, kind: 'map', words }
  return { name, kind: /\blist/.test(declared) ? 'list' : 'text', words }
}

// ── sources ────────────────────────────────────────────────────────────────────────────────────────

function source(path: string): ts.SourceFile {
  let file = files.get(path)
  if (file === undefined) {
    file = ts.createSourceFile(path, read(path), ts.ScriptTarget.ES2022, true)
    files.set(path, file)
  }
  return file
}

function* constants(statement: ts.Statement): Generator<[string, ts.Expression]> {
  if (!ts.isVariableStatement(statement)) return
  for (const { name, initializer } of statement.declarationList.declarations)
    if (initializer)
      yield [name.getText(), ts.isAsExpression(initializer) ? initializer.expression : initializer]
}

function constantOf(path: string, name: string): ts.Expression | null {
  for (const statement of source(path).statements)
    for (const [found, value] of constants(statement)) if (found === name) return value
  return null
}

/** Files by the names a file imports from them. */
function importsOf(path: string): ReadonlyMap<string, string> {
  const imported = new Map<string, string>()
  for (const statement of source(path).statements) {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue
    if (!statement.moduleSpecifier.text.startsWith('.')) continue
    const from = join(root, dirname(path), statement.moduleSpecifier.text).replace(/\.js$/, '.ts')
    const names = statement.importClause?.namedBindings?.getText() ?? ''
    for (const [word] of names.matchAll(/\w+/g)) imported.set(word, relative(root, from))
  }
  return imported
}
