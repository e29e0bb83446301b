// Tollgate's version and the supported range of Node, from package.json.
import { readFileSync } from 'node:fs'

const { version: own, engines } = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
) as { readonly version: string; readonly engines: { readonly node: string } }

export function version(): string {
  return own
}

/** The range of Node, `>=20.19`, which npm and tools/build.mjs use too. */
export const nodeRange = engines.node

/** Whether a version of Node, such as `22.23.3`, is in the range. */
export function nodeFits(version: string): boolean {
  const [, least, minorLeast] = /^>=(\d+)\.(\d+)$/.exec(nodeRange)!.map(Number)
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > least! || (major === least && minor >= minorLeast!)
}
