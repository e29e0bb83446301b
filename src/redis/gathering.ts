// Questions of all shards of a thread to Redis leave as one command in each turn. While such a command is under way, later
// turns gather for the next one: Redis calls fsync for each command that writes, so few commands cost it less than many.

/** Longest wait for an answer before the next command leaves: one that never comes must not hold up what comes after it. */
const waitMs = 20

export class Gathering<T> {
  #all: T[] = []
  #underWay = 0
  #late: NodeJS.Timeout | undefined

  readonly #send: (all: readonly T[]) => Promise<unknown>

  /** send: never rejects. */
  constructor(send: (all: readonly T[]) => Promise<unknown>) {
    this.#send = send
  }

  add(one: T): void {
    this.#all.push(one)
    if (this.#all.length > 1) return
    if (this.#underWay === 0) process.nextTick(this.#leave)
    else this.#late = setTimeout(this.#leave, waitMs)
  }

  readonly #leave = (): void => {
    clearTimeout(this.#late)
    if (this.#all.length === 0) return
    const all = this.#all
    this.#all = []
    this.#underWay++
    void this.#send(all).finally(() => {
      // those that waited for this answer come in the same turn
      if (--this.#underWay === 0) process.nextTick(this.#leave)
    })
  }
}
