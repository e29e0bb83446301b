// The contract of kept answers. The wrapper of a route, or of a view, is its only caller: handlers, and the stages of a
// request, do not know that answers are kept.

/** Answers to one kind of request that may be given again. */
export interface Kept<Request, Answer, Stamp, Found = Uint8Array> {
  /** A valid answer as bytes, or as pieces of bytes; null: there is none. */
  find(request: Request): Found | null
  /** Keep an answer. It is valid while everything that its stamp names is the same. */
  keep(request: Request, answer: Answer, stamp: Stamp): void
}
