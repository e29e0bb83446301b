// The process about itself, for GET /system: its version, present problems, and the nodes it sees.

interface SeenNode {
  readonly node: string
  readonly shards: number
  readonly isSelf: boolean
}

/** Filled by the parts that know, when they are open. */
export class SelfReport {
  /** Present problems by name; empty when all is well. */
  degraded: () => readonly string[] = () => []
  nodes: () => readonly SeenNode[] = () => []

  constructor(readonly version: string) {}
}
