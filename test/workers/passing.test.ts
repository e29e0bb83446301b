// A front before a main thread: bodies and messages that wait for it are bounded, callers with one key leave room for others,
// and closes say how they were meant.
import t from 'tap'
import type {
  App,
  AppRequest,
  AppResponse,
  AppSocket,
  SocketListener,
} from '../../src/front/http/apps/app.js'
import { UnreadAnswers } from '../../src/front/http/request/unread-answers.js'
import type { FromFront, Gathered } from '../../src/wire/passed.js'
import { Passing } from '../../workers/front/passing.js'

/** A connection that notes how it is closed, and closes as the native server does: its listener hears it at once. */
class Peer implements AppSocket {
  readonly closes: (number | 'cut')[] = []
  listener: SocketListener | null = null
  waiting = 0

  send(): void {}

  buffered(): number {
    return this.waiting
  }

  end(code: number): void {
    this.closes.push(code)
    this.listener!.closed(true)
  }

  cut(): void {
    this.closes.push('cut')
    this.listener!.closed(false)
  }
}

/** A request that is still read. */
class Caller {
  receive: (chunk: ArrayBuffer, isLast: boolean) => void = () => {}
  status = ''

  onAborted(): void {}

  onData(receive: Caller['receive']): void {
    this.receive = receive
  }

  cork(write: () => void): void {
    write()
  }

  writeStatus(status: string | Uint8Array): this {
    this.status = Buffer.from(status as string).toString()
    return this
  }

  end(): void {}

  endWithoutBody(): void {}
}

const bodiesMax = 16 << 20

function world() {
  const said: FromFront[] = []
  const app = { addressOf: () => '10.0.0.1' } as unknown as App
  const out = { say: (one: FromFront) => void said.push(one) } as unknown as Gathered<FromFront>
  const passing = new Passing(app, out, bodiesMax, new UnreadAnswers(1), ['X-Service-Api-Key'])
  const route = passing.route(1 << 20)
  let last = 0
  const requestOf = (key: string) =>
    ({
      getMethod: () => 'post',
      getUrl: () => '/x',
      getQuery: () => '',
      forEach: (each: (name: string, value: string) => void) => {
        each('host', 'x')
        if (key !== '') each('x-service-api-key', key)
      },
    }) as unknown as AppRequest
  /** A WebSocket of a caller with a key. */
  const open = (key: string) => {
    const peer = new Peer()
    route.upgrade({ onAborted: () => {} } as unknown as AppResponse, requestOf(key), listener => {
      peer.listener = listener
      listener.opened(peer)
    })
    const n = ++last
    passing.hear(['accept', n, ''])
    return { n, peer, receive: (text: string) => peer.listener!.received(text) }
  }
  const ask = (key: string) => {
    const caller = new Caller()
    passing.begin(caller as unknown as AppResponse, requestOf(key))
    return { n: ++last, caller }
  }
  return { said, passing, open, ask }
}

t.test('security H1 bodies without an answer are bounded, and one key leaves room for another', t => {
  const { passing, ask } = world()
  const piece = new ArrayBuffer(1 << 20)
  const greedy = Array.from({ length: 20 }, () => ask('greedy'))
  for (const { caller } of greedy) caller.receive(piece.slice(0), false)
  const taken = greedy.filter(({ caller }) => caller.status === '')
  t.equal(taken.length, 12, 'three quarters')
  t.match(greedy.at(-1)!.caller.status, /^503/)
  const other = ask('another')
  for (let i = 0; i < 3; i++) other.caller.receive(piece.slice(0), false)
  t.equal(other.caller.status, '', 'another key finds room')
  const nobody = ask('')
  nobody.caller.receive(piece.slice(0), false)
  t.equal(nobody.caller.status, '', 'and so does a caller without one')
  nobody.caller.receive(piece.slice(0), false)
  t.match(nobody.caller.status, /^503/, 'up to the bound')
  for (const { n } of taken) passing.hear(['bare', n, null])
  const again = ask('greedy')
  for (let i = 0; i < 9; i++) again.caller.receive(piece.slice(0), false)
  t.equal(again.caller.status, '', 'answered ones hold nothing')
  t.end()
})

t.test('security H1 messages on their way to the main thread are bounded, by key and together', t => {
  const { said, passing, open } = world()
  const long = 'x'.repeat(1 << 20)
  const many = Array.from({ length: 40 }, () => open('greedy'))
  for (const one of many) for (let i = 0; i < 4; i++) if (one.peer.closes.length === 0) one.receive(long)
  const characters = () =>
    said.reduce((sum, one) => {
      if (one[0] !== 'text' || many[one[1] - 1]!.peer.closes.length > 0) return sum
      return sum + one[2].length
    }, 0)
  t.ok(characters() <= 48 << 20, `${characters()} characters of one key wait`)
  t.ok(characters() >= 32 << 20)
  const closed = many.filter(({ peer }) => peer.closes.includes(1013))
  t.ok(closed.length > 20, `${closed.length} of 40 are closed`)
  const other = open('another')
  other.receive(long)
  t.same(other.peer.closes, [], 'another key finds room')
  // the main thread has worked on all of it
  for (const one of said) if (one[0] === 'text') passing.hear(['heard', one[1], one[2].length])
  const open1 = many.find(({ peer }) => peer.closes.length === 0)!
  for (let i = 0; i < 7; i++) open1.receive(long)
  t.same(open1.peer.closes, [], 'it may go on')
  open1.receive(long)
  t.same(open1.peer.closes, [1013], 'a single one has its own bound')
  const empty = open('third')
  for (let i = 0; i < 200_000 && empty.peer.closes.length === 0; i++) empty.receive('')
  t.same(empty.peer.closes, [1013], 'empty ones count, too')
  t.end()
})

t.test('a WebSocket is closed with its code, or cut; the main thread hears which it was', t => {
  const { said, passing, open } = world()
  const [first, second] = [open('a'), open('a')]
  second!.peer.waiting = 10
  passing.hear(['shut', first!.n, 4001, 'why'])
  passing.hear(['cut', second!.n])
  t.same([first!.peer.closes, second!.peer.closes], [[4001], ['cut']])
  t.same(
    said.filter(one => one[0] === 'closed'),
    [
      ['closed', 1, true],
      ['closed', 2, false],
    ],
  )
  t.end()
})
