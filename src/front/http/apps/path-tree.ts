// Finds the handler of a path, where the native server does not.
import type { AppHandler, AppMethod } from './app.js'

interface Node<Handler> {
  readonly literals: Map<string, Node<Handler>>
  parameter: Node<Handler> | null
  handler: Handler | null
}

const empty = <Handler>(): Node<Handler> => ({ literals: new Map(), parameter: null, handler: null })

/** Handlers by path: literal segments and `:name` parameters. Literals take precedence. */
export class PathTree<Handler> {
  private readonly root = empty<Handler>()
  private fallback: Handler | null = null

  /** `/*` is the handler of paths without another. */
  add(path: string, handler: Handler): void {
    if (path === '/*') {
      this.fallback = handler
      return
    }
    let node = this.root
    for (const segment of path.slice(1).split('/')) {
      if (segment.startsWith(':')) {
        node.parameter ??= empty()
        node = node.parameter
        continue
      }
      let next = node.literals.get(segment)
      if (next === undefined) {
        next = empty()
        node.literals.set(segment, next)
      }
      node = next
    }
    node.handler = handler
  }

  /**
   * The handler of a path, or null.
   *
   * parameters  receives the parameter segments as sent; a parameter is never empty.
   */
  find(path: string, parameters: string[]): Handler | null {
    const segments = path.slice(1).split('/')
    return this.walk(this.root, segments, 0, parameters) ?? this.fallback
  }

  private walk(
    node: Node<Handler>,
    segments: readonly string[],
    at: number,
    parameters: string[],
  ): Handler | null {
    if (at === segments.length) return node.handler
    const segment = segments[at]!
    const literal = node.literals.get(segment)
    if (literal !== undefined) {
      const found = this.walk(literal, segments, at + 1, parameters)
      if (found !== null) return found
    }
    if (node.parameter === null || segment === '') return null
    parameters.push(segment)
    const found = this.walk(node.parameter, segments, at + 1, parameters)
    if (found === null) parameters.pop()
    return found
  }
}

/** The handlers of a server, by method and path. */
export class Handlers {
  private readonly trees = new Map<string, PathTree<AppHandler>>()

  on(method: AppMethod, path: string, handler: AppHandler): void {
    const name = method === 'del' ? 'delete' : method
    const tree = this.trees.get(name) ?? new PathTree()
    this.trees.set(name, tree)
    tree.add(path, handler)
  }

  /** The handler of a request, null where there is none. `method` in lower case; `parameters`: as of `PathTree`. */
  find(method: string, path: string, parameters: string[]): AppHandler | null {
    const { trees } = this
    return trees.get(method)?.find(path, parameters) ?? trees.get('any')?.find(path, parameters) ?? null
  }
}
