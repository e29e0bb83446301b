// Past events of an import.
import { withExactQuantities } from '../../events/quantities.js'
import { jsonText } from '../../json.js'
import { keysLabel } from './keys.js'
import { type Context, type Kind, made, type Outcome, refusal, type Unit, unchanged } from './kind.js'
import { MemberFault, type Row } from './members.js'
import { recordLengthMax, tooLong } from './read.js'

export const events: Kind = {
  name: 'events',
  members: {
    event: { type: 'text', required: true },
    company: { type: 'map' },
    user: { type: 'map' },
    quantity: { type: 'whole' },
    sent_at: { type: 'time' },
    traits: { type: 'traits' },
    idempotency_key: { type: 'text' },
  },
  takesLines: true,
  label: ({ event, company }) => `${String(event)} ${keysLabel(company)}`,
  batches: ({ parallel }) => parallel,
  write: async (context, units) => {
    const sent = units.map(unit => preparedOr(context, unit))
    const good = sent.filter((one): one is string => typeof one === 'string')
    const answers = context.dryRun || good.length === 0 ? [] : await send(context, good)
    let next = 0
    return sent.map(one => (typeof one === 'string' ? (answers[next++] ?? made) : one))
  },
}

async function send({ client }: Context, lines: readonly string[]): Promise<readonly Outcome[]> {
  const answer = await client.send('POST', '/event-batch?report=true&any_age=true', lines.join('\n'), {
    'Content-Type': 'application/x-ndjson',
  })
  const { data } = (await answer.json()) as {
    data: { events: { error: string | null; duplicate?: boolean }[] }
  }
  return data.events.map(({ error, duplicate }) => {
    if (error === null) return duplicate === true ? unchanged : made
    const { member, message } = refusal(error)
    return { type: 'rejected', member, error: message }
  })
}

function preparedOr(context: Context, unit: Unit): string | Outcome {
  const rejected = (member: string | null, error: string): Outcome => ({ type: 'rejected', member, error })
  if (Buffer.byteLength(unit.text) > recordLengthMax) return rejected(null, tooLong)
  try {
    return prepared(context, unit)
  } catch (error) {
    if (error instanceof MemberFault) return rejected(error.member, error.message)
    throw error
  }
}

/** The event to send. errors: MemberFault for a line that is no JSON object. */
function prepared({ file, backfill }: Context, { line, text, row }: Unit): string {
  const given = '' in row ? eventOf(text) : eventFrom(row)
  if (given === null) throw new MemberFault(null, 'the line is not valid JSON')
  const asBackfill = backfill && given.backfill === undefined && given.trusted_client_clock === undefined
  if (asBackfill && given.sent_at == null && given.specversion === undefined)
    throw new MemberFault('sent_at', 'sent_at: missing, and a past event needs its time')
  return jsonText({
    ...given,
    ...(given.idempotency_key ? {} : { idempotency_key: `import:${file}:${line}` }),
    ...(asBackfill ? { backfill: true, trusted_client_clock: true } : {}),
  })
}

/** A line as `POST /events` takes it; null where it is no JSON object. */
function eventOf(text: string): Row | null {
  let event: unknown
  try {
    event = withExactQuantities(JSON.parse(text), text)
  } catch {
    return null
  }
  return typeof event === 'object' && event !== null && !Array.isArray(event) ? (event as Row) : null
}

function eventFrom({ event, company, user, quantity, traits, sent_at, idempotency_key }: Row): Row {
  return {
    event_type: 'track',
    sent_at,
    idempotency_key,
    body: { event, company, user, quantity, traits },
  }
}
