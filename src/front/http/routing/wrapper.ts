// A wrapper around the handler of a route: it sees the bytes of a body before they are parsed.
import type { EnvironmentRecord, Handler } from '../../../kit/call.js'
import type { Services } from '../../../kit/services.js'

/** The wrapper of one route. It is asked about whole bodies of an environment's requests, without query and signed context. */
export interface Wrapper {
  /**
   * Look at a body in the server's memory, which is used again when this returns.
   *
   * parameter  the first parameter of the path, as sent; '' without one.
   * returns    the complete body of the answer; or the handler that answers in place of the route's; null: the route's own.
   */
  before(
    services: Services,
    environment: EnvironmentRecord,
    parameter: string,
    body: DataView,
  ): Uint8Array | Handler<never, never> | null
}

/** Wrappers by the label of their route, `POST /flags/:key/check`. */
export type Wrappers = ReadonlyMap<string, Wrapper>
