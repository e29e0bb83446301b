// Where the name of an idempotency key lies in the window, by its hash.
import { hash } from 'node:crypto'

/** The name of a key, which contains its environment: no two environments share a name. */
export const nameOf = (environmentId: string, key: string): string => `${environmentId}\0${key}`

/** Hashes names, one after the other: it says the place of the one hashed last. */
export class NamePlace {
  segment = 0
  tag = 0
  middle = 0
  /** The environment of the name hashed last, and the beginning of its names. */
  private environmentId = ''
  private namesBegin = '\0'

  hash(environmentId: string, key: string): void {
    if (environmentId !== this.environmentId) {
      this.environmentId = environmentId
      this.namesBegin = nameOf(environmentId, '')
    }
    const digest = hash('sha256', this.namesBegin + key, 'binary')
    this.segment = (digest.charCodeAt(0) << 4) | (digest.charCodeAt(1) & 15)
    this.tag = word(digest, 2)
    this.middle = word(digest, 6)
  }
}

const word = (digest: string, at: number): number =>
  ((digest.charCodeAt(at) << 24) |
    (digest.charCodeAt(at + 1) << 16) |
    (digest.charCodeAt(at + 2) << 8) |
    digest.charCodeAt(at + 3)) >>>
  0
