// Express: `app.get('/exports', entitled(tollgate, { flag: 'exports', event: 'export' }, companyOf), handler)`.
import type { Request, RequestHandler } from 'express'
import type { Keys, Tollgate } from '../../clients/typescript/src/index.js'
import { admit, type Entitlement } from './entitled.js'

/** Middleware that lets a request through when its company may. `companyOf`: from what authenticated the request. */
export function entitled(
  tollgate: Tollgate,
  entitlement: Entitlement,
  companyOf: (req: Request) => Keys,
): RequestHandler {
  return async (req, res, next) => {
    const refusal = await admit(tollgate, entitlement, companyOf(req))
    if (refusal === null) next()
    else res.status(refusal.status).set(refusal.headers).json(refusal.body)
  }
}
