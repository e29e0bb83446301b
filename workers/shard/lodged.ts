// Rows of events that extra fronts have read, until the main thread has them taken or says that they are not (wire/front-uses.ts).
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import type { LodgedUses } from '../../src/wire/front-uses.js'
import type { Lodged } from '../../src/wire/message-codec.js'

/** The rows of one front. */
interface Lodging {
  readonly port: MessagePort
  /** Deals with what else comes over the port. */
  readonly other: (message: unknown) => void
  /** By packet, in their order. */
  readonly packets: Map<number, LodgedUses>
}

export class LodgedRows implements Lodged {
  private readonly fronts = new Map<number, Lodging>()

  /** missing: tells that a request fails. */
  constructor(readonly missing: (n: number) => void) {}

  /** A front may lodge rows over a port. other: deals with what else comes over it, in a later turn. */
  open(front: number, port: MessagePort, other: Lodging['other']): void {
    this.fronts.set(front, { port, other, packets: new Map() })
  }

  keep(front: number, uses: LodgedUses): void {
    this.fronts.get(front)?.packets.set(uses.packet, uses)
  }

  /** The rows of a packet, which the main thread has taken; null: they are not there. Earlier packets are over. */
  find(front: number, packet: number): LodgedUses | null {
    const lodging = this.fronts.get(front)
    if (lodging === undefined) return null
    if (!lodging.packets.has(packet)) this.drain(lodging)
    for (const earlier of lodging.packets.keys()) {
      if (earlier >= packet) break
      lodging.packets.delete(earlier)
    }
    return lodging.packets.get(packet) ?? null
  }

  /** Nothing of a packet is taken; null: the front is gone. */
  over(front: number, packet: number | null): void {
    const lodging = this.fronts.get(front)
    if (lodging === undefined) return
    if (packet === null) {
      this.fronts.delete(front)
      return
    }
    if (!lodging.packets.has(packet)) this.drain(lodging)
    lodging.packets.delete(packet)
  }

  /** The front had posted its rows before the main thread heard of them: they are in the port's queue at least. */
  private drain({ port, other, packets }: Lodging): void {
    for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
      const { message } = next
      if (isLodged(message)) packets.set(message.packet, message)
      else other(message)
    }
  }
}

/** Whether a message of a front is rows. */
export const isLodged = (message: unknown): message is LodgedUses => !Array.isArray(message)
