// The native binary of the HTTP server: which file it is, and whether it is the one that was looked at.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** SHA-256 of each binary of the locked version, by platform and ABI of Node. Change it with the version, after looking. */
const recorded: Readonly<Record<string, string>> = {
  linux_x64_115: 'f4fa5d7b697529b45ac8aa3d57385d9af51bc1d2b26aa9f5b68ca4361542e665',
  linux_arm64_115: '034e0fcccdc08f90df3b130f421516311831b1352fe38eab91abc2984c2fdf3a',
  darwin_x64_115: '7552dc27e278be4a5f9ca4f571676e9046929ef8753b1bb63b84f78e1a752a11',
  darwin_arm64_115: 'f6132ac4d0954ce32ed716d5b367270904c5885bc6e01dcc8ae5809a8967d504',
}

/** The platforms that a binary is recorded for, as `nativeProblem` takes them. */
export const nativePlatforms = Object.keys(recorded)

/** This platform and the ABI of this Node. */
export const nativePlatform = `${process.platform}_${process.arch}_${process.versions.modules}`

/**
 * What is wrong with the binary that the HTTP server would load, or null.
 *
 * platform   of which: this one unless given.
 * directory  where its package lies: as installed unless given.
 */
export function nativeProblem(platform = nativePlatform, directory = packageDirectory()): string | null {
  const wanted = recorded[platform]
  if (wanted === undefined) return `no binary of uWebSockets.js was recorded for ${platform}`
  const path = join(directory, `uws_${platform}.node`)
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch (error) {
    return `${path} cannot be read: ${(error as Error).message}`
  }
  const found = createHash('sha256').update(bytes).digest('hex')
  return found === wanted ? null : `${path} is not the binary that was recorded: its SHA-256 is ${found}`
}

function packageDirectory(): string {
  return dirname(createRequire(import.meta.url).resolve('uWebSockets.js'))
}
