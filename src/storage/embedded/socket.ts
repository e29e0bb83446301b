// Directories for the unix sockets of embedded stores, accessible to their owner only.
import { createHash } from 'node:crypto'
import { chmod, lstat, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Maximum bytes of a unix socket's path, without the terminating zero. */
const pathBytesMax = process.platform === 'linux' ? 107 : 103

/** A short hash of a path. */
export const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)

const fits = (path: string): boolean => Buffer.byteLength(path) <= pathBytesMax

/**
 * The directory of a store's socket: `socket` beside its data, else a directory below the system's temporary one,
 * whose name is the same at the next start.
 *
 * name    the socket's own name.
 * usable  whether the first choice is accessible.
 * errors  Error when both paths are too long.
 */
export function socketDirectory(
  directory: string,
  name: string,
  usable: (path: string) => boolean = () => true,
): string {
  const beside = join(directory, 'socket')
  if (fits(join(beside, name)) && usable(beside)) return beside
  const elsewhere = join(tmpdir(), `tollgate-${digest(directory)}`)
  if (fits(join(elsewhere, name))) return elsewhere
  throw new Error(`The path of a store's socket is too long in ${beside} and in ${tmpdir()}`)
}

/** Create a directory without access for others. errors: Error if it belongs to none of these users. */
export async function makePrivate(path: string, owners: readonly (number | undefined)[]): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch(error => {
    if (error.code !== 'EEXIST') throw error
  })
  const found = await lstat(path)
  if (!found.isDirectory() || !owners.includes(found.uid))
    throw new Error(`${path} must be a directory of our own; it belongs to another user. Remove it.`)
  await chmod(path, 0o700)
}
