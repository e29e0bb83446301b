// Fastify: `app.get('/exports', { preHandler: entitled(tollgate, { flag: 'exports', event: 'export' }, companyOf) }, handler)`.
import type { FastifyRequest, preHandlerAsyncHookHandler } from 'fastify'
import type { Keys, Tollgate } from '../../clients/typescript/src/index.js'
import { admit, type Entitlement } from './entitled.js'

/** A hook that lets a request through when its company may. `companyOf`: from what authenticated the request. */
export function entitled(
  tollgate: Tollgate,
  entitlement: Entitlement,
  companyOf: (req: FastifyRequest) => Keys,
): preHandlerAsyncHookHandler {
  return async (req, reply) => {
    const refusal = await admit(tollgate, entitlement, companyOf(req))
    if (refusal === null) return
    await reply.code(refusal.status).headers(refusal.headers).send(refusal.body)
  }
}
