// The values in Redis, and the product's scripts (src/redis/scripts.ts) translated to TypeScript line by
// line. test/cluster/scripts.test.ts compares both on a real Redis.
import type { ScriptName } from '../../../src/redis/scripts.js'

export type Argument = string | number | Buffer

/** A text, with its expiry (Infinity: none). */
interface Text {
  bytes: Buffer
  readonly endsMs: number
}

/** The error reply of a script. */
export class ScriptError extends Error {}

/** The values of one Redis. The caller adds the prefix to keys. */
export class Values {
  readonly texts = new Map<string, Text>()
  readonly hashes = new Map<string, Map<string, string>>()
  readonly sets = new Map<string, Set<string>>()

  /** An independent copy of the values. */
  copy(): Values {
    const copy = new Values()
    for (const [key, text] of this.texts) copy.texts.set(key, { ...text })
    for (const [key, hash] of this.hashes) copy.hashes.set(key, new Map(hash))
    for (const [key, set] of this.sets) copy.sets.set(key, new Set(set))
    return copy
  }

  get(key: string, nowMs: number): Buffer | null {
    const text = this.texts.get(key)
    if (text !== undefined && text.endsMs > nowMs) return text.bytes
    this.texts.delete(key)
    return null
  }

  /** Time left of a text, whole ms; 0 when there is none. */
  leftMs(key: string, nowMs: number): number {
    return this.get(key, nowMs) === null ? 0 : Math.floor(this.texts.get(key)!.endsMs - nowMs)
  }

  text(key: string, nowMs: number): string | null {
    return this.get(key, nowMs)?.toString('latin1') ?? null
  }

  set(key: string, value: string | Buffer, endsMs = Number.POSITIVE_INFINITY): void {
    this.texts.set(key, { bytes: Buffer.from(value as string, 'latin1'), endsMs })
  }

  hash(key: string): Map<string, string> {
    let hash = this.hashes.get(key)
    if (hash === undefined) {
      hash = new Map()
      this.hashes.set(key, hash)
    }
    return hash
  }

  members(key: string): Set<string> {
    let set = this.sets.get(key)
    if (set === undefined) {
      set = new Set()
      this.sets.set(key, set)
    }
    return set
  }

  increment(key: string, nowMs: number): number {
    const next = Number(this.text(key, nowMs) ?? '0') + 1
    this.set(key, String(next))
    return next
  }
}

/** Checks that scripts leave out on purpose, to test the laws. */
export interface Left {
  /** Writes do not compare the shard's mark. */
  readonly epochs?: boolean
  /** A claim in progress is free for any shard. */
  readonly asking?: boolean
  /** Records behind the floor are not marked when an epoch is over. */
  readonly marks?: boolean
  /** The floor goes beyond calls that are not settled. */
  readonly floors?: boolean
  /** A call without an answer counts as settled. */
  readonly voids?: boolean
  /** A claim does not compare the end of its filters. */
  readonly filters?: boolean
  /** Keys are deleted whichever event holds them. */
  readonly holders?: boolean
  /** Claims do not wait for replicas, and a connection that was made anew counts as the former one. */
  readonly connections?: boolean
  /** Longest lease that Redis keeps, ms. */
  readonly leaseMs?: number
}

/**
 * Run a script at an instant of Redis' clock.
 *
 * errors  ScriptError.
 */
export function runScript(
  values: Values,
  nowMs: number,
  p: string,
  name: ScriptName,
  given: readonly Argument[],
  left: Left = {},
): unknown {
  const text = (i: number): string => asText(given[i]!)
  const number = (i: number): number => Number(text(i))
  const shards = values.hash(`${p}shards`)
  const nodes = values.hash(`${p}nodes`)
  const slots = values.hash(`${p}slots`)
  const leased = (ms: number): number => nowMs + Math.min(ms, left.leaseMs ?? ms)
  const marks = values.hash(`${p}marks`)
  const fenced = (): boolean => left.epochs !== true && marks.get(text(0)) !== text(1)
  const sealed = (): number => Number(values.text(`${p}sealed`, nowMs) ?? '0')
  const changed = (): number => values.increment(`${p}changes`, nowMs)
  const raise = (shard: string, floor: string): void => {
    if (floor === '') return
    const [epoch, call, behind] = floor.split(':')
    const [was, before, from] = values.text(`${p}floor:${shard}`, nowMs)?.split(':') ?? []
    if (was === epoch && (Number(before) > Number(call) || Number(from) > Number(behind))) return
    values.set(
      `${p}floor:${shard}`,
      left.floors === true ? `${epoch}:${Number(call) + 1_000}:${behind}` : floor,
    )
  }
  const mustOwn = (): void => {
    if (fenced()) throw new ScriptError('FENCED')
  }
  switch (name) {
    case 'join': {
      const count = number(3)
      const from = values.increment(`${p}joins`, nowMs)
      for (let i = 0; i < count; i++) {
        const slot = (from + i) % count
        if (slots.has(String(slot))) continue
        slots.set(String(slot), text(0))
        nodes.set(text(0), text(1))
        values.set(`${p}lease:${text(0)}`, '1', leased(number(2)))
        changed()
        return slot
      }
      return -1
    }
    case 'renew':
      if (!nodes.has(text(0))) return 0
      values.set(`${p}lease:${text(0)}`, '1', leased(number(1)))
      if (text(2) !== '') {
        nodes.set(text(0), text(2))
        changed()
      }
      return 1
    case 'look': {
      const seen = [...nodes].flatMap(([node, json]) => [
        node,
        json,
        String(values.leftMs(`${p}lease:${node}`, nowMs)),
      ])
      return [values.text(`${p}changes`, nowMs) ?? '0', seen, [...shards].flat()]
    }
    case 'leave':
      if (text(1) !== '1' && values.get(`${p}lease:${text(0)}`, nowMs) !== null) return 0
      nodes.delete(text(0))
      values.texts.delete(`${p}lease:${text(0)}`)
      for (const [slot, node] of slots) if (node === text(0)) slots.delete(slot)
      for (const [shard, mark] of shards) {
        const [epoch, node] = parts(mark)
        if (node === text(0)) shards.set(shard, `${epoch}:`)
      }
      changed()
      return 1
    case 'take': {
      if (!nodes.has(text(0))) return ''
      const [epoch, node] = parts(shards.get(text(1)) ?? '0:')
      if (node !== '') return ''
      const mark = `${epoch + 1}:${text(0)}`
      shards.set(text(1), mark)
      changed()
      return mark
    }
    case 'give': {
      if (shards.get(text(0)) !== text(1)) return 0
      const [epoch] = parts(text(1))
      const to = nodes.has(text(2)) ? text(2) : ''
      shards.set(text(0), `${to === '' ? epoch : epoch + 1}:${to}`)
      changed()
      return 1
    }
    case 'begin': {
      mustOwn()
      const files = values.members(`${p}files:${text(0)}`)
      if (files.has(text(3))) throw new ScriptError('EXISTS')
      files.add(text(3))
      values.set(text(2), '')
      return 1
    }
    case 'write': {
      const out: string[] = []
      for (let i = 0; i < given.length; i += 6) {
        const had = values.get(text(i + 2), nowMs) ?? Buffer.alloc(0)
        const offset = number(i + 3)
        const isFloorAlone = text(i + 2) === ''
        if (left.epochs !== true && marks.get(text(i)) !== text(i + 1)) out.push('FENCED')
        else if (isFloorAlone) {
          raise(text(i), text(i + 5))
          out.push('OK')
        } else if (had.length < offset) out.push('GAP')
        else {
          const bytes = given[i + 4] as Buffer
          const file = Buffer.alloc(Math.max(had.length, offset + bytes.length))
          had.copy(file)
          bytes.copy(file, offset)
          values.set(text(i + 2), file)
          raise(text(i), text(i + 5))
          out.push('OK')
        }
      }
      return out
    }
    case 'cut': {
      mustOwn()
      const had = values.get(text(2), nowMs) ?? Buffer.alloc(0)
      if (had.length > number(3)) values.set(text(2), had.subarray(0, number(3)))
      return 1
    }
    case 'fence':
      if (parts(marks.get(text(0)) ?? '0:')[0] > parts(text(1))[0]) throw new ScriptError('FENCED')
      marks.set(text(0), text(1))
      return 1
    case 'reopen': {
      const [epoch, node] = parts(shards.get(text(0)) ?? '0:')
      if (node !== text(1)) throw new ScriptError('FENCED')
      const mark = `${Math.max(epoch, number(2)) + 1}:${node}`
      shards.set(text(0), mark)
      changed()
      return mark
    }
    case 'drop':
      mustOwn()
      values.members(`${p}files:${text(0)}`).delete(text(3))
      values.texts.delete(text(2))
      return 1
    case 'claim': {
      if (sealed() > number(1) && left.filters !== true) return 'unsealed'
      const out: string[] = []
      const words = text(2).split(' ')
      for (let i = 0; i + 1 < words.length; i += 2) {
        const value = values.text(words[i]!, nowMs)
        const endsMs = number(0) === 0 ? Number.POSITIVE_INFINITY : nowMs + number(0)
        if (value === null) values.set(words[i]!, words[i + 1]!, endsMs)
        else out.push(String(i / 2), value)
      }
      return out
    }
    case 'sweep': {
      let gone = 0
      for (const key of values.texts.keys()) {
        if (!key.startsWith(`${p}i:`)) continue
        const [, , , received] = values.text(key, nowMs)?.split('|') ?? []
        if (received === undefined || Number(received) >= number(2)) continue
        values.texts.delete(key)
        gone++
      }
      return ['0', gone]
    }
    case 'fates': {
      const out: string[] = []
      for (let i = 0; i < given.length; i += 4) {
        const [shard, epoch, call, known] = [0, 1, 2, 3].map(at => text(i + at))
        const [now, floor] = (values.text(`${p}floor:${shard}`, nowMs) ?? '0:0').split(':').map(Number)
        const isOver = now! > Number(epoch)
        let settled = 0
        if (isOver) settled = Number(values.text(`${p}end:${shard}:${epoch}`, nowMs) ?? '0')
        if (now === Number(epoch)) settled = floor!
        if (known === 'settled') settled = Number.POSITIVE_INFINITY
        const isVoid = values.members(`${p}void:${shard}`).has(`${epoch}:${call}`) && left.voids !== true
        if (isVoid) out.push('free')
        else if ((call === 'none' ? Number.POSITIVE_INFINITY : Number(call)) < settled) out.push('kept')
        else out.push(isOver || left.asking === true ? 'free' : 'busy')
      }
      return out
    }
    case 'swap': {
      const out: number[] = []
      for (let i = 1; i < given.length; i += 3) {
        const isSame = values.text(text(i), nowMs) === text(i + 1)
        if (isSame) values.set(text(i), text(i + 2), nowMs + number(0))
        out.push(isSame ? 1 : 0)
      }
      return out
    }
    case 'void':
      values.members(`${p}void:${text(0)}`).add(text(1))
      return 1
    case 'mark':
      for (let i = 0; i < given.length; i += 2) {
        const value = values.text(text(i), nowMs)
        const id = /^p[^|]*\|([^|]*)\|/.exec(value ?? '')?.[1]
        if (id !== text(i + 1) || left.marks === true) continue
        values.set(text(i), `d${value!.slice(value!.indexOf('|'))}`, values.texts.get(text(i))?.endsMs)
      }
      return 1
    case 'settled':
      mustOwn()
      if (values.text(`${p}floor:${text(0)}`, nowMs)?.split(':')[0] === text(5).split(':')[0]) return 1
      if (text(2) !== '') values.set(`${p}end:${text(0)}:${text(2)}`, text(3), nowMs + number(4))
      values.set(`${p}floor:${text(0)}`, text(5))
      return 1
    case 'forget': {
      if (sealed() < number(0)) values.set(`${p}sealed`, text(0))
      let gone = 0
      for (let i = 1; i < given.length; i += 2) {
        const value = values.text(text(i), nowMs)
        if (value === null || (value.split('|')[1] !== text(i + 1) && left.holders !== true)) continue
        values.texts.delete(text(i))
        gone++
      }
      return gone
    }
    case 'touch':
      values.set(`${p}touched`, '1')
      return 1
    case 'free':
      for (let i = 0; i < given.length; i += 2)
        if (values.text(text(i), nowMs) === text(i + 1)) values.texts.delete(text(i))
      return 1
    case 'pairs':
      for (let i = 2; i < given.length; i++) {
        const had = values.text(text(i), nowMs)
        if (had !== null && had !== text(0)) return [text(i), had]
      }
      for (let i = 2; i < given.length; i++) values.set(text(i), text(0), nowMs + number(1))
      return ''
  }
}

const asText = (argument: Argument): string =>
  Buffer.isBuffer(argument) ? argument.toString('latin1') : String(argument)

function parts(mark: string): readonly [epoch: number, node: string] {
  const at = mark.indexOf(':')
  return [Number(mark.slice(0, at)), mark.slice(at + 1)]
}
