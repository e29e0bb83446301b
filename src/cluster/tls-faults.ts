// Why TLS between two nodes failed, in words for the log.
import type { TLSSocket } from 'node:tls'

/** Pause before the same fault is logged again. */
const againMs = 10_000

const stranger = "was not signed by the nodes' authority (TOLLGATE_NODE_TLS_CA)"

/** Results of a verification, and of a handshake, as OpenSSL names them. */
const words: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet: compare the clocks of both machines',
  DEPTH_ZERO_SELF_SIGNED_CERT: stranger,
  SELF_SIGNED_CERT_IN_CHAIN: stranger,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: stranger,
  UNABLE_TO_GET_ISSUER_CERT: stranger,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: stranger,
  CERT_SIGNATURE_FAILURE: stranger,
  INVALID_PURPOSE:
    'may not be used for this: it needs both serverAuth and clientAuth, or no extended key usage',
}

const both = 'every node needs a certificate, or none has one'

/** The fault of a connection that this node made; null: it was none of TLS. */
export function faultAsking(error: NodeJS.ErrnoException): string | null {
  const said = words[error.code ?? '']
  if (said !== undefined) return `the other node's certificate ${said} (${error.code})`
  return ofHandshake(error)
}

/** The fault of a connection that another node made to this one; null: it was none of TLS. */
export function faultServing(
  error: NodeJS.ErrnoException,
  socket: Pick<TLSSocket, 'authorizationError'>,
): string | null {
  const verified = String(socket.authorizationError ?? '')
  if (verified !== '')
    return `the asking node's certificate ${words[verified] ?? 'was refused'} (${verified})`
  return ofHandshake(error)
}

function ofHandshake({ code = '', message }: NodeJS.ErrnoException): string | null {
  if (/^(ERR_SSL|ERR_TLS|EPROTO|CERT_|UNABLE_TO_)/.test(code))
    return `the TLS handshake failed: ${both} (${code}: ${message.trim()})`
  // So Node reports a connection that ends before the handshake does.
  return code === 'ECONNRESET' && /hang up|secure TLS/.test(message)
    ? `the connection ended within the TLS handshake: ${both}, and this may be why`
    : null
}

/** Faults that come again with every attempt to connect: each is told once in a while. */
export class FaultLog {
  private readonly toldMs = new Map<string, number>()

  constructor(private readonly write: (who: string, reason: string) => void) {}

  tell(who: string, reason: string): void {
    const nowMs = performance.now()
    for (const [known, ms] of this.toldMs) if (nowMs - ms >= againMs) this.toldMs.delete(known)
    const key = `${who} ${reason}`
    if (this.toldMs.has(key)) return
    this.toldMs.set(key, nowMs)
    this.write(who, reason)
  }
}
