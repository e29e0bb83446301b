/** A body that may be sent later: copied where it lies in shared memory, which is used again. */
export function copyIfShared<Body extends string | Uint8Array>(body: Body): Body | Buffer {
  return typeof body !== 'string' && body.buffer instanceof SharedArrayBuffer ? Buffer.from(body) : body
}
