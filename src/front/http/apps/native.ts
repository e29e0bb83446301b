// The native binary of the HTTP server: its path, its hash, and whether it loads.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { prepareNative } from '../../../config.js'

/** `auto`: uWebSockets.js if its binary loads, else Node's `http`. */
export type HttpChoice = 'auto' | 'uws' | 'node'

/**
 * SHA-256 of each binary of the locked version, by platform and ABI of Node (115: Node 20, 127: 22, 137: 24). When
 * the version changes, examine the binaries and update the hashes. Other platforms use Node's `http`.
 */
const recorded: Readonly<Record<string, string>> = {
  linux_x64_115: 'f4fa5d7b697529b45ac8aa3d57385d9af51bc1d2b26aa9f5b68ca4361542e665',
  linux_arm64_115: '034e0fcccdc08f90df3b130f421516311831b1352fe38eab91abc2984c2fdf3a',
  darwin_x64_115: '7552dc27e278be4a5f9ca4f571676e9046929ef8753b1bb63b84f78e1a752a11',
  darwin_arm64_115: 'f6132ac4d0954ce32ed716d5b367270904c5885bc6e01dcc8ae5809a8967d504',
  linux_x64_127: '78e38a9a163b1cf33ce539619e5908111dea95a12e7943d95fbcdd524879caa8',
  linux_arm64_127: 'a7d9bc3ec166421a49416d5ea4f49118ae68ea1dbf8a765c4f45a79b0b6adb13',
  darwin_x64_127: '1bcd63a9cd5cda811d899b80f9b1f7c9f29d128feafebe6976069ab1045a0335',
  darwin_arm64_127: '84ab0c487fbbb895afbfa24c7ac02db5922b2eb468b3a4663aaca52af29b420c',
  linux_x64_137: '3b549c14e01d9d1faf234cdf4b6f0fb08158605e3692cd0eb1b905e327bd3449',
  linux_arm64_137: 'b6eb007d627e00bcce03ad38f197124e9027c03f6fe784b37f97b8a6ea709cb4',
  darwin_x64_137: '7df6e0b2be43048200370a64ee91d6563879f5d3b0207f846dc81377ffc4e189',
  darwin_arm64_137: 'dd7623e7e600dcc1384c4a639ac05849f0c27125be8c431b702e0513e86613f0',
}

/** The platforms with a recorded binary, in the form of `nativeProblem`. */
export const nativePlatforms = Object.keys(recorded)

/** This platform and the ABI of this Node. */
export const nativePlatform = `${process.platform}_${process.arch}_${process.versions.modules}`

/** The HTTP server that a choice selects on this machine. */
interface ChosenServer {
  readonly native: boolean
  /** The reason, for the log. */
  readonly reason: string
  /** The binary exists but differs from the recorded one. */
  readonly changed: boolean
}

/**
 * Determine the HTTP server for a choice. Loads the binary if it is the recorded one.
 *
 * directory  of its package, as for `nativeProblem`.
 */
export function chooseServer(choice: HttpChoice, directory = packageDirectory()): ChosenServer {
  if (choice === 'node') return { native: false, reason: 'TOLLGATE_HTTP=node asks for it', changed: false }
  const found = nativeProblem(nativePlatform, directory)
  if (found !== null) return { native: false, reason: found.text, changed: found.changed }
  const failure = loadFailure()
  if (failure !== null) {
    const reason = `the binary of uWebSockets.js does not load on Node ${process.versions.node}: ${failure}`
    return { native: false, reason, changed: false }
  }
  const asked = choice === 'uws'
  const reason = asked ? 'TOLLGATE_HTTP=uws asks for it' : 'its binary loads on this platform'
  return { native: true, reason, changed: false }
}

/** The reason why a binary must not be loaded. */
interface NativeProblem {
  readonly text: string
  /** It exists but differs from the recorded one. */
  readonly changed: boolean
}

/**
 * The reason why the binary must not be loaded, or null.
 *
 * platform   default: this one.
 * directory  of its package; default: as installed; null: not installed.
 */
export function nativeProblem(
  platform = nativePlatform,
  directory = packageDirectory(),
): NativeProblem | null {
  if (directory === null) return { text: 'uWebSockets.js is not installed', changed: false }
  const wanted = recorded[platform]
  if (wanted === undefined)
    return { text: `no binary of uWebSockets.js was recorded for ${platform}`, changed: false }
  const path = join(directory, `uws_${platform}.node`)
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch (error) {
    return { text: `${path} cannot be read: ${(error as Error).message}`, changed: false }
  }
  const found = createHash('sha256').update(bytes).digest('hex')
  if (found === wanted) return null
  return { text: `${path} is not the binary that was recorded: its SHA-256 is ${found}`, changed: true }
}

/** The loader's error message, which the package prints last; null when it loads. */
function loadFailure(): string | null {
  prepareNative()
  try {
    createRequire(import.meta.url)('uWebSockets.js')
    return null
  } catch (error) {
    return (error as Error).message.trim().split('\n').at(-1)!
  }
}

function packageDirectory(): string | null {
  try {
    return dirname(createRequire(import.meta.url).resolve('uWebSockets.js'))
  } catch {
    return null
  }
}
