// Directories for the unix sockets of embedded stores: only their owner passes through.
import { createHash } from 'node:crypto'
import { chmod, lstat, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Bytes of a unix socket's path, its closing zero not counted. */
const pathBytesMax = process.platform === 'linux' ? 107 : 103

/** A short text in place of a path. */
export const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)

const fits = (path: string): boolean => Buffer.byteLength(path) <= pathBytesMax

/**
 * Where a store's socket lies: in `socket` beside its data, else in a directory of the system's temporary ones whose
 * name comes again at the next start.
 *
 * name    the socket's own name.
 * usable  whether the first place will do, besides its length.
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

/** Make a directory that is closed to others. errors: Error for one that belongs to none of these users. */
export async function makePrivate(path: string, owners: readonly (number | undefined)[]): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch(error => {
    if (error.code !== 'EEXIST') throw error
  })
  const found = await lstat(path)
  if (!found.isDirectory() || !owners.includes(found.uid))
    throw new Error(`${path} must be a directory of our own; it belongs to another user. Remove it.`)
  await chmod(path, 0o700)
}
