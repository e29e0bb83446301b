// Kill -9 and a restart under 100 clients that check here, count, and draw leases: no wrong decision, no event lost or
// counted twice, no credit drawn twice.
import { createServer } from 'node:net'
import t from 'tap'
import { Tollgate } from '../../clients/typescript/src/index.js'
import { webSocket } from '../clients/make.js'
import { publishedPlan } from '../control/planned.js'
import { type Client, Process } from '../harness.js'
import { CreditWorld } from '../interface/credit-world.js'
import { temporaryDirectory } from '../stores.js'

t.setTimeout(240_000)

const clients = 100
const limit = 12
const answersOfEach = 10
const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

async function freePort(): Promise<string> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { readonly port: number }
  await new Promise(resolve => server.close(resolve))
  return String(port)
}

/** Do it until the service answers. */
async function persistently<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if ((error as { status?: number }).status === 402) throw error
      await pause(50)
    }
  }
}

async function prepare(client: Client) {
  const world = new CreditWorld(client)
  const credit = await world.credit()
  const flag = {
    key: 'steps',
    name: 's',
    description: '',
    flag_type: 'boolean',
    default_value: false,
    rules: [],
  }
  const steps = await client.ok('POST', '/features', {
    name: 'Steps',
    description: '',
    feature_type: 'event',
    event_subtype: 'step',
    flag,
  })
  const answers = await client.ok('POST', '/features', {
    name: 'Answers',
    description: '',
    feature_type: 'event',
    event_subtype: 'answer',
  })
  const plan = await publishedPlan(client, 'Plan', [
    { feature_id: steps.id, value_type: 'numeric', value_numeric: limit, metric_period: 'all_time' },
    {
      feature_id: answers.id,
      value_type: 'credit',
      value_credit_id: credit.id,
      credit_consumption_rate: 1,
      price_behavior: 'credit_burndown',
    },
  ])
  const companies = []
  for (let i = 0; i < clients; i++) {
    const made = await world.company({ base_plan_id: plan.id })
    await world.grant(made.id, credit.id, 50)
    companies.push({ id: made.id as string, keys: made.keys as Record<string, string> })
  }
  return { world, credit, companies }
}

t.test('a kill under 100 clients', async t => {
  const dataDir = await temporaryDirectory(t)
  const settings = { TOLLGATE_PORT: await freePort() }
  let running = await Process.start(dataDir, settings)
  t.teardown(() => running.end('SIGTERM'))
  const { client } = running
  const { world, credit, companies } = await prepare(client)
  const wrong: string[] = []
  let denied = 0
  const tollgates = companies.map(
    () =>
      new Tollgate({
        url: client.url,
        key: client.key,
        local: true,
        webSocket,
        events: { flushMs: 30 },
        httpMs: 500,
      }),
  )
  t.teardown(() => Promise.all(tollgates.map(one => one.close(0))))

  const live = async (tollgate: Tollgate, company: (typeof companies)[number]) => {
    await tollgate.ready()
    const lease = await persistently(() =>
      tollgate.acquireLease({
        companyId: company.id,
        company: company.keys,
        creditId: credit.id,
        amount: 20,
      }),
    )
    let used = 0
    let drawn = 0
    while (used < limit || drawn < answersOfEach) {
      const checked = await persistently(() =>
        tollgate.check('steps', { company: company.keys }, { order: ['local', 'http'] }),
      )
      if (checked.value) {
        if (used === limit) wrong.push(`${company.id} may use what is used up, says ${checked.source}`)
        else if (checked.source === 'local') {
          tollgate.track('step', { company: company.keys })
          used++
        }
      } else if (used < limit) denied++
      if (drawn < answersOfEach && lease.draw(1)) {
        lease.track('answer')
        drawn++
      }
      await pause(20 + Math.random() * 60)
    }
    await tollgate.flush()
    const last = await persistently(() => tollgate.check('steps', { company: company.keys }))
    if (last.value) wrong.push(`${company.id} may still use what is used up, says ${last.source}`)
    await persistently(() => lease.release())
    return { used, drawn }
  }

  const lives = tollgates.map((tollgate, i) => live(tollgate, companies[i]!))
  for (let kill = 0; kill < 2; kill++) {
    await pause(400 + Math.random() * 400)
    await running.end('SIGKILL')
    running = await Process.start(dataDir, settings)
  }
  const lived = await Promise.all(lives)
  t.same(wrong, [])
  t.comment(`${denied} checks were denied while a use was on its way`)
  for (const [i, { used, drawn }] of lived.entries()) {
    const { id, keys } = companies[i]!
    const { feature_usage: usage, value } = await running.client.ok('POST', '/flags/steps/check', {
      company: keys,
    })
    if (usage !== used || value) wrong.push(`${id}: ${used} were told, ${usage} are counted`)
    const [remaining, reserved] = await world.balance(id, credit.id)
    if (remaining !== 50 - drawn || reserved !== 0) wrong.push(`${id}: ${drawn} drawn, ${remaining} are left`)
  }
  t.same(wrong, [], 'each use and each draw once')
})
