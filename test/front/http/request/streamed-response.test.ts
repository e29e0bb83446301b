// A body that its socket does not take at once. A kernel takes more than the shared memory holds, so a socket stands in here.
import t from 'tap'
import type { AppResponse } from '../../../../src/front/http/apps/app.js'
import { bytesForNow } from '../../../../src/front/http/request/respond.js'
import { sendLarge } from '../../../../src/front/http/request/streamed-response.js'

/** A socket that takes so many bytes at a time. */
class Narrow {
  readonly sent: Buffer[] = []
  writable: (offset: number) => boolean = () => true

  constructor(private readonly atOnce: number) {}

  tryEnd(rest: Uint8Array, totalBytes: number): [boolean, boolean] {
    this.sent.push(Buffer.from(rest.subarray(0, this.atOnce)))
    const isOver = this.offset === totalBytes
    return [isOver, isOver]
  }

  onWritable(writable: (offset: number) => boolean): void {
    this.writable = writable
  }

  get offset(): number {
    return this.sent.reduce((sum, { length }) => sum + length, 0)
  }
}

const answerOf = (letter: string) => ['"', Buffer.alloc(1_000, letter), '"']
const textOf = ({ sent }: Narrow) => Buffer.concat(sent).toString()

t.test('answers that wait for their sockets keep their bytes while others are sent', async t => {
  const sockets = ['a', 'b', 'c'].map(letter => {
    const socket = new Narrow(300)
    let ended = 0
    const isSent = sendLarge(socket as unknown as AppResponse, bytesForNow(answerOf(letter)), () => ended++)
    t.notOk(isSent)
    return { letter, socket, ended: () => ended }
  })
  for (let turn = 0; turn < 3; turn++) for (const { socket } of sockets) socket.writable(socket.offset)
  for (const { letter, socket, ended } of sockets) {
    t.equal(textOf(socket), `"${letter.repeat(1_000)}"`)
    t.equal(ended(), 1)
  }
})

t.test('an answer that its socket takes at once, and one that shared memory cannot hold', async t => {
  for (const [atOnce, length] of [
    [1 << 20, 1_000],
    [1 << 20, 300_000],
    [1_000, 300_000],
  ] as const) {
    const socket = new Narrow(atOnce)
    const text = 'é'.repeat(length)
    const isSent = sendLarge(socket as unknown as AppResponse, bytesForNow([text, '!']), () => {})
    t.equal(isSent, atOnce > 2 * length)
    for (let before = -1; before < socket.offset; ) {
      before = socket.offset
      if (before < 2 * length + 1) socket.writable(before)
    }
    t.ok(textOf(socket) === `${text}!`, `${length} by ${atOnce}`)
  }
})
