// The process about itself, for GET /system: its version, present problems, and the nodes and fronts it sees.
import type { StoreLook } from './store-look.js'

interface SeenNode {
  readonly node: string
  readonly shards: number
  readonly isSelf: boolean
}

interface SeenFront {
  /** 0 is the main thread, where it is the only one. */
  readonly front: number
  readonly answers: boolean
}

/** Filled by the parts that know, when they are open. */
export class SelfReport {
  /** Present problems by name; empty when all is well. */
  degraded: () => readonly string[] = () => []
  nodes: () => readonly SeenNode[] = () => []
  fronts: () => readonly SeenFront[] = () => []
  /** Whether Redis answers; null: the only node uses none. */
  redis: () => boolean | null = () => null

  constructor(
    readonly version: string,
    readonly clickhouse: StoreLook,
  ) {}
}
