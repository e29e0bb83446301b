// The interface between Tollgate and an HTTP server, implemented by uws-app.ts and node-app.ts. It follows
// uWebSockets.js, whose objects are used directly, without wrappers.

/** One request. It must not be read after its handler has returned. */
export interface AppRequest {
  /** In lower case: `get`, `post`. */
  getMethod(): string
  /** The path as sent, without the query. */
  getUrl(): string
  /** The text after `?`; undefined without one. */
  getQuery(): string | undefined
  /** A path parameter by position, as sent. */
  getParameter(index: number): string
  /** The first header with this name; '' for none. */
  getHeader(name: string): string
  /** Every header in the order received, names in lower case. */
  forEach(each: (name: string, value: string) => void): void
}

/**
 * The response to one request.
 *
 * It must not be touched after `end`, a `tryEnd` that reports the end, or the abort callback.
 */
export interface AppResponse {
  /** Called once if the peer disconnects before the response has ended. */
  onAborted(aborted: () => void): unknown
  /** The body in pieces; a request without body gives one empty piece. The bytes are valid only during the call. */
  onData(data: (chunk: ArrayBuffer, isLast: boolean) => void): unknown
  /** Writes inside `write` are sent together. */
  cork(write: () => void): unknown
  /** `200 OK`; further header lines may follow, each after CRLF. */
  writeStatus(status: string | Uint8Array): this
  /** The value may carry further header lines, each after CRLF. */
  writeHeader(name: string, value: string): this
  end(body?: string | Uint8Array, closeConnection?: boolean): unknown
  /** End a response without body. A Content-Length written before is kept. */
  endWithoutBody(): unknown
  /**
   * Write a body of `totalBytes`, or the rest of it.
   *
   * returns  [whether everything is sent, whether the response has ended].
   */
  tryEnd(rest: Uint8Array, totalBytes: number): [boolean, boolean]
  /** Write a piece of a body of unknown length; false: wait for `onWritable`. */
  write(piece: Uint8Array): boolean
  /** Called, with the bytes of the body written so far, when more can be written. */
  onWritable(writable: (offset: number) => boolean): unknown
  /** Cut the connection. */
  close(): unknown
}

export type AppHandler = (res: AppResponse, req: AppRequest) => void
/** One WebSocket connection. It must not be touched after its listener heard `closed`. */
export interface AppSocket {
  /** Send a text frame. The bytes are UTF-8 and may be sent to others too. */
  send(text: Uint8Array): void
  /** Bytes that wait for the peer to take them. */
  buffered(): number
  /**
   * Close it, with a code and a reason of at most 123 bytes; while bytes wait for the peer it is cut, so that nothing is kept for
   * a peer that does not read. `closed` may be heard before this returns.
   */
  end(code: number, reason: string): void
  /** Close it at once, whatever waits for the peer. `closed` may be heard before this returns. */
  cut(): void
}

/** Receives the events of a WebSocket connection. */
export interface SocketListener {
  opened(socket: AppSocket): void
  /** A text frame. */
  received(text: string): void
  /** The peer has taken bytes that waited. */
  drained(): void
  /**
   * Once, however it ended.
   *
   * isKept  the peer closed it in good order: what it has not read may be kept for it, for `lingerMs` at most.
   */
  closed(isKept: boolean): void
}

/** How a path takes WebSocket connections. */
export interface SocketRoute {
  /** Bytes of one frame; a connection that sends more is closed. */
  readonly frameBytesMax: number
  /**
   * A request to open a connection. Either `accept` is called, at once or later, or the response is ended as that of any
   * request. It has an `onAborted` first, as there is no other way to hear that the peer has left meanwhile.
   */
  upgrade(
    res: AppResponse,
    req: AppRequest,
    accept: (listener: SocketListener, protocol: string) => void,
  ): void
}

/** How long the native server keeps bytes for a peer that has closed its WebSocket, ms: 16 s, and its clock ticks each 4. */
export const lingerMs = 20_000

/**
 * A connection whose peer is silent for this long is closed. After `socketPingSeconds` of silence a ping is sent, which a
 * peer answers; proxies, many of which close a connection that is silent for a minute, see both.
 */
export const socketSilentSeconds = 40
/** uWebSockets.js sends its pings 16 s before the end. */
export const socketPingSeconds = socketSilentSeconds - 16

export type AppMethod = 'get' | 'post' | 'put' | 'del' | 'head' | 'options' | 'any'

/** An HTTP server. */
export interface App {
  /**
   * Serve a path: literal segments, `:name` for one segment, or the pattern `/*` for all paths. A literal takes
   * precedence over a parameter, a parameter over `/*`, a method over `any`.
   */
  on(method: AppMethod, path: string, handler: AppHandler): void
  /** Take WebSocket connections at a path without parameters. Other requests to it are for its handlers. */
  socket(path: string, route: SocketRoute): void
  /** The peer's address as text. IPv4 over an IPv6 socket is written as IPv4. */
  addressOf(res: AppResponse): string
  /**
   * Accept connections.
   *
   * port     0: any free one.
   * shared   other processes may listen on the port as well, if they want to share it: each connection goes to one.
   * returns  the port.
   * errors   rejects when the address is not available.
   */
  listen(host: string, port: number, shared: boolean): Promise<number>
  /** Accept no more connections; existing ones stay. */
  stopListening(): void
  /** Close every connection. */
  close(): void
}
