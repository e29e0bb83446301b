// Flags of the data stream: read again when the catalog changes, and told.
import { compileCatalog } from '../../core/catalog.js'
import { engineFlags } from '../../core/evaluator/engine-shapes.js'
import { jsonText } from '../../json.js'
import { flagDeleteFrame, flagFrame, flagsFrame } from './frames.js'
import type { StreamServices } from './services.js'
import type { Environment, Subscriber } from './subscriber.js'
import { type Turns, toldTogether } from './turns.js'

/** How long a frame of all flags may be told again, ms: its time is that old at most. */
const frameMs = 10

export class StreamFlags {
  constructor(
    private readonly services: Pick<StreamServices, 'catalogs' | 'clock' | 'entities'>,
    private readonly turns: Turns,
  ) {}

  /** Send all flags. */
  tellAll(subscriber: Subscriber): void {
    const { environment } = subscriber
    subscriber.answer('flags', () => {
      this.read(environment)
      subscriber.flagsVersion = environment.version
      return this.frameOf(environment)
    })
  }

  /** All flags as a frame, rebuilt when its time is a tick old. */
  private frameOf(environment: Environment): Uint8Array {
    const { version } = environment
    const madeMs = performance.now()
    const told = environment.flagsTold
    if (told !== null && told.version === version && madeMs - told.madeMs < frameMs) return told.frame
    const { clock, entities } = this.services
    const frame = flagsFrame(
      [...environment.flags.values()],
      clock.now(environment.id),
      entities.lowercaseNames(environment.id),
    )
    environment.flagsTold = { version, madeMs, frame }
    return frame
  }

  /** Send one flag by its key. Returns false when there is no such flag. */
  tellOne(subscriber: Subscriber, key: string): boolean {
    const { environment } = subscriber
    this.read(environment)
    const { flags } = this.services.catalogs.get(environment.id)
    const id = flags.find(flag => flag.key === key)?.id
    if (id === undefined || !environment.flags.has(id)) return false
    subscriber.answer(`flag ${id}`, () => {
      const text = environment.flags.get(id)
      return text === undefined ? null : flagFrame(id, text)
    })
    return true
  }

  /** Read the flags again when the catalog changed, and send those that differ. */
  read(environment: Environment): void {
    const data = this.services.catalogs.get(environment.id)
    if (data.version === environment.version) return
    const before = environment.flags
    const isFirst = environment.version < 0
    environment.version = data.version
    const flags = engineFlags(compileCatalog(data))
    environment.flags = new Map(flags.map(flag => [flag.id, jsonText(flag)]))
    if (isFirst) return
    const { version } = environment
    const frames: Uint8Array[] = []
    for (const [id, text] of environment.flags) if (before.get(id) !== text) frames.push(flagFrame(id, text))
    for (const [id, text] of before) if (!environment.flags.has(id)) frames.push(flagDeleteFrame(id, text))
    if (frames.length === 0) return
    this.turns.forEach(
      environment.subscribers,
      toldTogether,
      subscriber => {
        if (subscriber.flagsVersion >= version) return
        if (subscriber.isBehind) return this.tellAll(subscriber)
        for (const frame of frames) subscriber.tell(frame)
      },
      environment.id,
    )
  }
}
