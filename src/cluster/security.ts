// The credentials of the connection between nodes: the secret that all know, and TLS where certificates are named.
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { type Config, ConfigError } from '../config.js'

export interface LinkSecurity {
  readonly secret: string
  /** null: the connection is not encrypted. */
  readonly tls: LinkTls | null
}

/** PEM texts: this node's certificate and its key, and the authority that signed the certificates of all nodes. */
export interface LinkTls {
  readonly cert: Buffer
  readonly key: Buffer
  readonly ca: Buffer
}

/**
 * Reads the files that the settings name.
 *
 * errors  ConfigError: a file that cannot be read, holds no certificate, or a key that is not the certificate's.
 */
export function linkSecurity({
  clusterSecret,
  nodeTls,
}: Pick<Config, 'clusterSecret' | 'nodeTls'>): LinkSecurity {
  const secret = clusterSecret!
  if (nodeTls === null) return { secret, tls: null }
  const cert = checked('TOLLGATE_NODE_TLS_CERT', () => certificateIn(nodeTls.cert))
  const ca = checked('TOLLGATE_NODE_TLS_CA', () => certificateIn(nodeTls.ca))
  const key = checked('TOLLGATE_NODE_TLS_KEY', () => {
    const read = readFileSync(nodeTls.key)
    createSecureContext({ cert, key: read })
    return read
  })
  return { secret, tls: { cert, key, ca } }
}

function certificateIn(path: string): Buffer {
  const read = readFileSync(path)
  new X509Certificate(read)
  return read
}

function checked(name: string, read: () => Buffer): Buffer {
  try {
    return read()
  } catch (error) {
    throw new ConfigError(`${name}: ${(error as Error).message}`)
  }
}
