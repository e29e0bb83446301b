// A request from its first byte to its last, in five stages. Each has a file and a state of its own; all answer through the last.
//
//   read ──▶ admit ──▶ body ──▶ call ──▶ reply
import { ServiceError } from '../../../errors.js'
import { exposedLine } from '../admission/cors.js'
import type { AppRequest, AppResponse } from '../apps/app.js'
import { AdmitStage } from './admit.js'
import { BodyStage } from './body.js'
import { CallStage } from './call.js'
import type { Compiled } from './compiled-route.js'
import { Misframed } from './framing.js'
import type { Head } from './head.js'
import { Incoming } from './read.js'
import { ReplyStage } from './reply.js'
import type { Shared } from './shared.js'

/** The classes of stages that differ: with tracing, and for the console. */
export interface Stages {
  readonly Admit: typeof AdmitStage
  readonly Call: typeof CallStage
  readonly Reply: new (incoming: Incoming, res: AppResponse, headOnly: boolean, req: AppRequest) => ReplyStage
}

export const plainStages: Stages = { Admit: AdmitStage, Call: CallStage, Reply: ReplyStage }

/** Begin a request: everything up to the first await. Only here may the request object be read. */
export function begin(
  shared: Shared,
  compiled: Compiled,
  res: AppResponse,
  req: AppRequest,
  headOnly: boolean,
  stages: Stages,
): void {
  const { head } = shared
  const incoming = new Incoming(shared, compiled)
  const reply = new stages.Reply(incoming, res, headOnly, req)
  const admit = new stages.Admit(incoming, reply)
  shared.inFlight++
  // first, because an aborted response without this callback would end the process
  res.onAborted(() => reply.abort())
  try {
    head.read(req)
    incoming.secret = admit.secretOf(req, head)
    reply.headers = compiled.isOpen ? shared.cors.linesOf(head.origin) : exposedLine
    frame(incoming, head, reply)
    if (shared.services === null) throw new ServiceError('starting')
    if (!shared.mayAnswer()) throw new ServiceError('starting', 'Redis does not answer; try again')
    // without a "?" it is undefined, despite its type
    incoming.rawQuery = req.getQuery() ?? ''
    if (incoming.secret === '') admit.beginKeyless(head)
    incoming.copy(req, head)
    const call = new stages.Call(incoming, admit, reply)
    if (compiled.route.body === 'none') admit.find(call)
    else {
      const body = new BodyStage(incoming, admit, call, reply)
      res.onData((chunk, last) => body.data(chunk, last))
      if (!admit.isKeyless) admit.find(body)
    }
  } catch (error) {
    if (error instanceof Misframed) reply.cut(error)
    else reply.fail(error)
  } finally {
    reply.corked = false
  }
}

function frame(incoming: Incoming, head: Head, reply: ReplyStage): void {
  const { shared, compiled } = incoming
  const { trustProxy, chunkedBodies } = shared.options.config
  head.assertFramed()
  if (trustProxy > 0) incoming.forwardedFor = head.forwardedFor
  if (!head.isChunked) return
  if (!chunkedBodies) throw new Misframed('length_required')
  if (compiled.route.body === 'none') throw new Misframed('framing_invalid', 'No body is taken here')
  // trailers are not visible here, so nothing after them is read
  reply.cuts = true
}
