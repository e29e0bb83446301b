// kill -9 at any moment under load: every acknowledged change that somebody asks about is in the outbox once, and its
// delivery is made once, with the same id at every attempt (security 12).
import t from 'tap'
import { Process } from '../harness.js'
import { receiver } from '../interface/receiver.js'
import { Random, times } from '../random.js'
import { temporaryDirectory } from '../stores.js'

const rounds = times(3)
const clients = 8
/** A process is killed after this many further acknowledgements at the least, and so many at the most. */
const acknowledged = { least: 10, most: 80 }
const random = new Random()

t.setTimeout(times(300_000))

interface Row {
  readonly id: string
  readonly status: string
  readonly request_type: string
  readonly payload: string
}

t.test(
  `security 12: seed ${random.seed}, ${rounds} rounds: a kill loses no notification and repeats none`,
  async t => {
    const dataDir = await temporaryDirectory(t)
    const settings = { TOLLGATE_WEBHOOK_PRIVATE_ADDRESSES: 'true', TOLLGATE_WEBHOOK_RETRY_MS: '50' }
    const here = await receiver(t)
    let running = await Process.start(dataDir, settings)
    t.teardown(() => running.end('SIGTERM'))
    const webhook = await running.client.ok('POST', '/webhooks', {
      name: 'all',
      url: here.url,
      request_types: ['company.created', 'flag.created', 'entitlement.limit.reached'],
    })
    const feature = await running.client.ok('POST', '/features', {
      name: 'Limited',
      description: '',
      feature_type: 'event',
      event_subtype: 'limited',
    })
    /** Acknowledged: what must have been told, by type and id; and all that was ever asked for. */
    const told = new Map<string, string>()
    const asked = new Set<string>()
    let number = 0
    let going = true
    const send = (path: string, body: object) => running.client.post(path, body).catch(() => null)

    const makeCompany = async (): Promise<void> => {
      const slug = `co${++number}`
      asked.add(slug)
      const made = await send('/companies', { keys: { slug } })
      if (made?.status !== 200) return
      const { id } = made.body.data
      told.set(`company.created ${id}`, slug)
      const entitled = await send('/company-overrides', {
        company_id: id,
        feature_id: feature.id,
        value_type: 'numeric',
        value_numeric: 2,
      })
      if (entitled?.status !== 201) return
      const event = { event_type: 'track', body: { event: 'limited', company: { slug }, quantity: 2 } }
      const counted = await send('/events', { ...event, idempotency_key: `limit of ${slug}` })
      if (counted?.status === 201) told.set(`entitlement.limit.reached ${id}`, slug)
    }
    const makeFlag = async (): Promise<void> => {
      const key = `flag${++number}`
      asked.add(key)
      const made = await send('/flags', {
        key,
        name: key,
        description: '',
        flag_type: 'boolean',
        default_value: false,
      })
      if (made?.status === 201) told.set(`flag.created ${made.body.data.id}`, key)
    }
    const client = async (): Promise<void> => {
      while (going) {
        await (random.chance(0.8) ? makeCompany() : makeFlag())
        await new Promise(resolve => setTimeout(resolve, 5))
      }
    }

    for (let round = 1; round <= rounds; round++) {
      going = true
      const working = Array.from({ length: clients }, client)
      const enough = told.size + acknowledged.least + random.below(acknowledged.most - acknowledged.least)
      while (told.size < enough) await new Promise(resolve => setTimeout(resolve, 5))
      await running.end('SIGKILL')
      going = false
      await Promise.all(working)
      running = await Process.start(dataDir, settings)
      t.comment(`round ${round}: ${told.size} changes acknowledged so far`)
    }

    // a stop puts everything into the outbox, so that the notification of a later flag is the last one
    t.equal(await running.end('SIGTERM'), 0)
    running = await Process.start(dataDir, settings)
    await makeFlag()
    const rows = await allDeliveries(running, webhook.id, [...told.keys()])
    const made = new Map<string, number>()
    for (const row of rows) made.set(nameOf(row), (made.get(nameOf(row)) ?? 0) + 1)
    t.ok(told.size > 0, `${told.size} changes were acknowledged`)
    t.same(
      [...told.keys()].filter(name => made.get(name) !== 1),
      [],
      'every acknowledged change is told exactly once',
    )
    t.same(
      [...made].filter(([, count]) => count !== 1),
      [],
      'so is what was done and not acknowledged',
    )
    const sent = new Set(here.received.map(one => one.headers['webhook-id']))
    t.same(
      rows.filter(row => row.status !== 'success' || !sent.has(row.id)),
      [],
      'every delivery has reached its endpoint under its id',
    )
    t.equal(await running.end('SIGTERM'), 0)
  },
)

/** Type and id of what a delivery tells of. */
function nameOf({ request_type: type, payload }: Row): string {
  const { body, company_id: companyId } = JSON.parse(payload)
  return `${type} ${companyId ?? body.id}`
}

/** Every delivery, once all of them have succeeded and these are among them. */
async function allDeliveries(
  { client }: Process,
  webhookId: string,
  names: readonly string[],
): Promise<readonly Row[]> {
  for (const endMs = Date.now() + 120_000; ; await new Promise(resolve => setTimeout(resolve, 100))) {
    const { count } = await client.ok('GET', `/webhook-events/count?webhook_id=${webhookId}`)
    const rows: Row[] = []
    for (let offset = 0; offset < count; offset += 250)
      rows.push(
        ...(await client.ok('GET', `/webhook-events?webhook_id=${webhookId}&limit=250&offset=${offset}`)),
      )
    const made = new Set(rows.map(nameOf))
    const isDone = rows.every(row => row.status === 'success') && names.every(name => made.has(name))
    // the test tells what is missing
    if (isDone || Date.now() > endMs) return rows
  }
}
