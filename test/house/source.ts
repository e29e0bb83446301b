// The project's own files, as the house tests read them.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../../', import.meta.url))

/** Files that a build or an installation made. */
const built = /(^|\/)(dist|node_modules)\//

/** Paths from the root of every file under these folders whose name ends so, sorted. */
export function filesUnder(folders: readonly string[], ending: string): readonly string[] {
  return folders
    .filter(folder => existsSync(join(root, folder)))
    .flatMap(folder =>
      readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
        .filter(entry => entry.isFile() && entry.name.endsWith(ending))
        .map(entry => relative(join(root, folder), join(entry.parentPath, entry.name)))
        .filter(path => !built.test(path))
        .map(path => join(folder, path)),
    )
    .sort()
}

export function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}
