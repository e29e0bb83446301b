// Requests that begin anew, and the answer to one that was done and cannot be shown.

import { PairTaken } from '../../../entities/directory/entities.js'
import { type Answer, Deferred, type Handler } from '../../../kit/call.js'
import type { Route } from '../routing/route.js'
import { SmallBody } from './parse-body.js'
import type { Request } from './request.js'

/** How often a request begins anew. */
const retriesMax = 3

/** A write that was taken, and cannot be shown now (decision 32). */
export const takenAnswer: Answer = { status: 202, data: { taken: true } }

/** A write became durable: its route has the 202 in the document, or this throws. */
export function mustDocumentTaken({ method, path, mayLag }: Route): void {
  if (!mayLag) throw new Error(`${method} ${path} may answer 202: its row needs mayLag`)
}

/** Begin anew while another node takes the keys that a request is about to give: it finds whose they are then. */
export async function retried(route: Route, call: Request, first: Promise<Answer>): Promise<Answer> {
  let again = call
  for (let tries = 1; ; tries++)
    try {
      return await (tries === 1 ? first : awaited(route.handle(again)))
    } catch (error) {
      if (!(error instanceof PairTaken) || tries > retriesMax) throw error
      if (tries === 1 && call.body instanceof SmallBody) again = call.withBody(call.body.kept())
    }
}

/** A handler's answer, whichever way it gives it. */
export function awaited(answer: ReturnType<Handler>): Promise<Answer> | Answer {
  if (!(answer instanceof Deferred)) return answer
  return new Promise((resolve, reject) => answer.listen({ succeed: resolve, fail: reject }))
}
