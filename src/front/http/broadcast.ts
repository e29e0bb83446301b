// Routes of one node among several: whoever changes what other nodes hold in memory is answered when they have it.
import type { Answer } from '../../kit/call.js'
import type { Route } from './routing/route.js'

/** changing  tells other nodes of a change under a path; null: there is nothing to tell. */
export function broadcasting(
  routes: readonly Route[],
  changing: (path: string) => (() => Promise<void>) | null,
): readonly Route[] {
  return routes.map(route => {
    const tell = route.mutates ? changing(route.path) : null
    if (tell === null) return route
    const handle: Route['handle'] = async call => {
      const answer = await route.handle(call)
      await tell()
      return answer as Answer
    }
    return { ...route, handle }
  })
}
