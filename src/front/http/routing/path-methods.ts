// The methods that a path has, for requests with another one: 405 with Allow.
import { ServiceError } from '../../../errors.js'
import { PathTree } from '../apps/path-tree.js'
import { failure, type Reply } from '../request/respond.js'
import type { Route } from './route.js'

/** The methods of the route table and of the paths beside it. */
export class PathMethods {
  private readonly tree = new PathTree<Set<string>>()

  constructor(routes: readonly Pick<Route, 'method' | 'path'>[]) {
    const byPath = new Map<string, Set<string>>([
      ['/health/live', new Set(['GET', 'HEAD'])],
      ['/health/ready', new Set(['GET', 'HEAD'])],
      ['/catalog.schema.json', new Set(['GET'])],
      ['/openapi.json', new Set(['GET'])],
      ['/docs', new Set(['GET'])],
    ])
    for (const { method, path } of routes) {
      const shape = path.replaceAll(/:[^/]+/g, ':')
      const methods = byPath.get(shape) ?? new Set()
      methods.add(method === 'del' ? 'DELETE' : method.toUpperCase())
      if (method === 'get') methods.add('HEAD')
      byPath.set(shape, methods)
    }
    for (const [path, methods] of byPath) this.tree.add(path, methods)
  }

  /** In a stable order; null: no route has the path. `path` as sent, perhaps with a slash at its end. */
  of(path: string): readonly string[] | null {
    const plain = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
    const found = this.tree.find(plain, [])
    return found === null ? null : [...found].sort()
  }
}

/** The 405 for a path that has other methods. */
export function wrongMethod(method: string, allowed: readonly string[]): Reply {
  const told = allowed.filter(one => one !== 'HEAD').join(', ')
  const asked = /^[a-z]{1,16}$/.test(method) ? method.toUpperCase() : 'This method'
  const error = new ServiceError('method_unknown', `${asked} is not served at this path: use ${told}`)
  return failure(error, `\r\nAllow: ${[...allowed, 'OPTIONS'].join(', ')}`)
}
