// Checks that extra fronts ask of companies in memory, and rows of events that they lodge. For a company that must be loaded
// first the front hears `starting`, and passes the check on to the main thread: only the main thread's questions wait for a load.
import type { PresenceQuestion, ShardRequest } from '../../../src/core/company/shard-request.js'
import { isQuestion, type Question } from '../../../src/core/model/message.js'
import { type Packet, Replies, unpack } from '../../../src/wire/message-codec.js'
import type { AskerPort, LodgingOver } from '../../../src/wire/port.js'
import { type Actor, type Actors, timeOf } from '../actors.js'
import { EnvironmentGone } from '../gone.js'
import { isLodged, type LodgedRows } from '../lodged.js'

/** The shard, as far as a check needs it. */
export interface Asked {
  readonly actors: Actors
  readonly lodged: LodgedRows
  turn(give: () => void): void
  settle(actor: Actor, env: string, at: number): void
  answerTo(
    n: number,
    actor: Actor | null,
    env: string,
    question: Question,
    at: number,
    replies: Replies,
  ): void
}

/** Hears packets of the main thread, and ports of fronts. */
export const hearing =
  (shard: Asked, posts: { add(cells: Packet): void }) =>
  (said: Packet | AskerPort | LodgingOver): void => {
    if (Array.isArray(said)) posts.add(said as unknown as Packet)
    else if ('asker' in said) hearAsker(shard, said)
    else if ('over' in said) shard.lodged.over(said.over, said.packet)
  }

/** Answer the questions that come over a front's port, until it closes, and keep the rows. */
function hearAsker(shard: Asked, { asker: port, front }: AskerPort): void {
  const replies = new Replies()
  const questions = (packet: Packet): void => {
    shard.turn(() => unpack(packet, request => answerUnlessGone(shard, request, replies)))
    port.postMessage(replies.take())
  }
  shard.lodged.open(front, port, message => void setImmediate(questions, message as Packet))
  port.on('message', (message: unknown) => {
    if (isLodged(message)) shard.lodged.keep(front, message)
    else questions(message as Packet)
  })
}

/** Answer a question. The main thread is asked again about an environment that is not here: it knows whether it is deleted. */
function answerUnlessGone(shard: Asked, request: ShardRequest, replies: Replies): void {
  try {
    answer(shard, request, replies)
  } catch (error) {
    if (!(error instanceof EnvironmentGone)) throw error
    replies.failed(request.n, 'starting')
  }
}

function answer(shard: Asked, request: ShardRequest | PresenceQuestion, replies: Replies): void {
  if ('present' in request) {
    const isPresent = request.present.every(id => inMemory(shard, id) !== undefined)
    return replies.answered(request.n, isPresent, 0)
  }
  if (!('m' in request) || !isQuestion(request.m)) throw new Error('a front asks what is no question')
  const { n, k, id, env, m } = request
  if (k === 'e') return shard.answerTo(n, null, env, m, request.at, replies)
  const actor = inMemory(shard, id)
  if (actor === undefined) return replies.failed(n, 'starting')
  const at = timeOf(actor, request.at)
  shard.settle(actor, env, at)
  shard.answerTo(n, actor, env, m, at, replies)
}

const inMemory = ({ actors }: Asked, id: string): Actor | undefined =>
  actors.lost.has(id) ? undefined : actors.get(id)
