// The framing check of everything outside the route table: pages, health, metrics and upgrades (security 11, M1).
import type { App, AppHandler, AppMethod, AppRequest, AppResponse } from '../apps/app.js'
import { cutOff, Misframed } from './framing.js'
import { failure } from './respond.js'
import type { Shared } from './shared.js'

/** Where pages are registered. */
export interface Pages {
  /** As `App.on`; the handler hears framed requests without a body in chunks alone. */
  on(method: AppMethod, path: string, handler: AppHandler): void
}

/** The pages of an app behind the framing check. */
export function framedPages(app: App, shared: Shared): Pages {
  return {
    on: (method, path, handler) =>
      app.on(method, path, (res, req) => {
        const fault = faultOf(shared, req)
        if (fault === null) handler(res, req)
        else cut(shared, res, fault)
      }),
  }
}

/** A handshake that is not framed plainly, or that announces a body: whatever follows it are frames. */
export function upgradeFault(shared: Shared, req: AppRequest): Misframed | null {
  const fault = faultOf(shared, req)
  if (fault !== null) return fault
  const { contentLength } = shared.head
  return contentLength === '' || Number(contentLength) === 0 ? null : noBody()
}

/** Answer, and read nothing more of this connection. The response has no `onAborted` yet. */
function cut(shared: Shared, res: AppResponse, fault: Misframed): void {
  let gone = false
  res.onAborted(() => {
    gone = true
  })
  cutOff(res, shared.writeHead, failure(fault, ''), () => gone)
}

/** Reads the head. */
function faultOf({ head }: Shared, req: AppRequest): Misframed | null {
  try {
    head.read(req)
    head.assertFramed()
    return head.isChunked ? noBody() : null
  } catch (error) {
    if (error instanceof Misframed) return error
    throw error
  }
}

const noBody = () => new Misframed('framing_invalid', 'No body is taken here')
