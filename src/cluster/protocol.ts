// The versions of the nodes' protocol that a build speaks. Nodes of two builds serve side by side when each understands the other.

/**
 * The version that this build speaks. It rises whenever frames or packets between nodes change, or what they read of each
 * other in Redis.
 */
export const linkVersion = 4

/**
 * The oldest version that this build works beside. A change that raises `linkVersion` by one leaves this one behind by one
 * where it can: this build then reads what that version sends, and sends nothing that it does not read.
 */
export const oldestVersion = 4

/** The build of a node, as its hello and its entry in Redis tell it. */
export const speech = { version: linkVersion, oldest: oldestVersion }

/**
 * The fault of what another node said of its build; null: both work side by side.
 *
 * version  the version that it speaks; builds before version 2 said none.
 * oldest   the oldest that it understands; builds up to version 3 said none, and understood their own.
 */
export function faultOfSpeech(version: unknown, oldest: unknown = version): string | null {
  if (typeof version !== 'number' || typeof oldest !== 'number')
    return `speaks an earlier version of the nodes' protocol, ${ours}`
  if (version >= oldestVersion && oldest <= linkVersion) return null
  return `speaks version ${version} of the nodes' protocol, ${ours}`
}

const ours = `this build version ${linkVersion}: stop all nodes, then start them on one build`
