// Files with secrets in the data directory: readable by their owner only, written atomically.
import { randomBytes } from 'node:crypto'
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises'

/** File of the data directory with the secret that seals backups. It is in no backup, unlike the pepper. */
export const backupKeyFile = 'backup-key'

/** The text of a file that only its owner may read; created atomically if absent. */
export async function keep(path: string, make: () => string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const draft = await draftOf(path, make())
  try {
    await link(draft, path)
  } catch (error) {
    // another process was first; its text counts
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await rm(draft, { force: true })
  }
  return (await readFile(path, 'utf8')).trim()
}

/** Replace the text of such a file. */
export async function replace(path: string, text: string): Promise<void> {
  await rename(await draftOf(path, text), path)
}

async function draftOf(path: string, text: string): Promise<string> {
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  await writeFile(draft, `${text}\n`, { mode: 0o600, flag: 'wx' })
  return draft
}
