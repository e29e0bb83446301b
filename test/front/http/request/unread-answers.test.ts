// Answers that nobody reads are bounded together, and what one environment leaves unread takes no room from the next.
import t from 'tap'
import type { AppResponse } from '../../../../src/front/http/apps/app.js'
import { type Unread, UnreadAnswers } from '../../../../src/front/http/request/unread-answers.js'

/** A socket that takes nothing. */
class Stuck {
  isClosed = false
  writable: (offset: number) => boolean = () => true

  tryEnd(rest: Uint8Array): [boolean, boolean] {
    return [rest.length === 0, rest.length === 0]
  }

  onWritable(writable: (offset: number) => boolean): void {
    this.writable = writable
  }

  close(): void {
    this.isClosed = true
  }
}

const bytes = new Uint8Array(new SharedArrayBuffer(4)).slice()
const long = Object.defineProperty(bytes.slice(), 'length', { value: 16 << 20 })
const turn = () => new Promise<void>(resolve => setImmediate(resolve))

t.test('security H1 unread answers are bounded, by environment and together', async t => {
  const answers = new UnreadAnswers(1)
  const send = (group: string) => {
    const socket = new Stuck()
    const unread = answers.send(socket as unknown as AppResponse, long, group, () => {})
    return { socket, unread: unread as Unread }
  }
  const sent = Array.from({ length: 40 }, () => send('greedy'))
  await turn()
  const cut = sent.filter(({ socket }) => socket.isClosed)
  t.ok(cut.length > 20, `${cut.length} of 40 were cut`)
  t.ok(answers.held <= 201_326_592, `${answers.held} bytes wait`)
  const other = send('another')
  await turn()
  t.notOk(other.socket.isClosed, 'another environment finds room')
  for (const { unread } of [...sent, other]) {
    unread.over()
    unread.over()
  }
  t.equal(answers.held, 0, 'all is given back, once')
  const left = send('greedy')
  left.unread.over()
  await turn()
  t.notOk(left.socket.isClosed)
})

t.test('security H1 threads that take connections share the bound', t => {
  const threads = 3
  const held = Array.from({ length: threads }, () => {
    const answers = new UnreadAnswers(threads)
    for (const group of ['one', 'two', 'three', 'four'])
      for (let n = 0; n < 20; n++) answers.send(new Stuck() as unknown as AppResponse, long, group, () => {})
    return answers.held
  })
  const all = held.reduce((sum, bytes) => sum + bytes, 0)
  t.ok(all > 200_000_000, `${all} bytes wait`)
  t.ok(all <= 268_435_456, `${all} bytes wait`)
  t.end()
})
