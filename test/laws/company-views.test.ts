// The law of kept views and figures: a company that is looked up or written is shown as it would be described now, whatever
// happened since it was shown before. The list describes its companies anew each time.
import t from 'tap'
import { booleanFeature, companyOf, eventFeature, publishedPlan } from '../control/planned.js'
import { startHere } from '../harness.js'
import { CreditWorld } from '../interface/credit-world.js'
import { Random, seed, times } from '../random.js'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

const { client, tollgate } = await startHere(t)
const { services } = tollgate
const world = new CreditWorld(client)
const begunMs = Date.UTC(2031, 0, 31, 22, 59)
/** The present of the tests, which only goes on. */
let nowMs = begunMs
const iso = (ms: number) => new Date(ms).toISOString()

/** The company as it is shown to who looks it up, and as the list shows it. */
async function shown(slug: string, id: string) {
  const kept = await client.ok('GET', `/companies/lookup?keys[slug]=${slug}`)
  const [made] = await client.ok('GET', `/companies?ids=${id}`)
  return {
    kept: { company: kept, usage: await keptUsage(id) },
    made: { company: made, usage: await madeUsage(id) },
  }
}

/** All flags, asked for the company, for a user of it, and for one who is of no company. */
const contexts = (slug: string) => [
  { company: { slug } },
  { company: { slug }, user: { email: `law-${slug}@x.org` } },
  { company: { slug }, user: { email: `nobody-${seed}@x.org` } },
]
/** The answers as they are given, and as they are made each time where several contexts are asked at once. */
async function shownFlags(slug: string) {
  const kept = await Promise.all(contexts(slug).map(context => client.ok('POST', '/flags/check', context)))
  const made = await client.ok('POST', '/flags/check-bulk', { contexts: contexts(slug) })
  return { kept, made: made.data }
}

/** The figures of its usage: what definitions show beside them is as old as some seconds. */
const figures = (rows: readonly { readonly feature: unknown }[]) =>
  rows.map(({ feature: _, ...row }) => ({ ...row, plan_entitlement: null, plan: null }))
const keptUsage = async (id: string) => figures(await client.ok('GET', `/feature-usage?company_id=${id}`))
/** Rows of named features are asked of the company each time. */
const madeUsage = async (id: string) => {
  featureIds ??= (await client.ok('GET', '/features?limit=250')).map((feature: { id: string }) => feature.id)
  return figures(await client.ok('GET', `/feature-usage?company_id=${id}&feature_ids=${featureIds}`))
}
/** Ids of all features: none is added while the law is walked. */
let featureIds: readonly string[] | null = null

const again = () => services.metrics.companyViews.again.count
const flagsAgain = async () =>
  (await services.shards.stats()).reduce((sum, { wholesAgain }) => sum + wholesAgain, 0)

/** Definitions that all walks share. */
async function definitions() {
  const credit = await world.credit()
  const metered = await world.metered(credit.id, 0.5, [{ credit_amount: 100 }])
  const feature = await booleanFeature(client, 'Of the law')
  // as many as the trait `room` says: a trait that entitlements read
  const room = await client.ok('POST', '/entity-trait-definitions', {
    entity_type: 'company',
    hierarchy: ['room'],
    trait_type: 'number',
  })
  const measured = await eventFeature(client, 'Of a trait', `room-${seed}`)
  const other = await publishedPlan(client, 'Other', [
    { feature_id: feature.id, value_type: 'boolean', value_bool: true },
    { feature_id: measured.id, value_type: 'trait', value_trait_id: room.id, metric_period: 'all_time' },
    {
      feature_id: metered.feature.id,
      value_type: 'numeric',
      value_numeric: 10,
      metric_period: 'current_day',
    },
  ])
  const alone = await client.ok('POST', '/flags', {
    key: `alone-${seed}`,
    name: 'Of no feature',
    description: '',
    flag_type: 'boolean',
    default_value: false,
  })
  return { credit, metered, feature, other, room, alone }
}

t.test('FE-105, FE-91, CU-3 a view that is given again is the view that would be made', async t => {
  await world.clock(iso(begunMs))
  const { credit, metered, feature, other, room, alone } = await definitions()
  const random = new Random()
  let made = 0

  for (let walk = 0; walk < times(3); walk++) {
    const slug = `view${walk}-${seed}`
    await world.clock(iso(nowMs))
    const id = await companyOf(client, tollgate, slug)
    await client.ok('POST', '/companies', { keys: { slug }, name: slug, traits: { seats: 1, tier: 'a' } })
    await client.ok('POST', '/users', { keys: { email: `law-${slug}@x.org` }, company: { slug } })
    const users: string[] = []
    const overrides: string[] = []

    const steps: readonly (readonly [name: string, take: () => Promise<unknown>])[] = [
      ['an event', () => world.track(metered.subtype, { slug }, { quantity: 1 + random.below(3) })],
      ['an event of another name', () => world.track(`other${random.below(3)}`, { slug })],
      [
        'a batch',
        () =>
          client.ok('POST', '/event-batch', {
            events: Array.from({ length: 1 + random.below(9) }, () => ({
              event_type: 'track',
              idempotency_key: `law${walk}-${seed}-${++made}`,
              body: { event: metered.subtype, company: { slug } },
            })),
          }),
      ],
      ['a check', () => client.ok('POST', `/flags/${metered.flag.key}/check`, { company: { slug } })],
      ['a check of all flags', () => client.ok('POST', '/flags/check', { company: { slug } })],
      [
        'a check that reserves',
        () =>
          client.ok('POST', `/flags/${metered.flag.key}/check-and-reserve`, {
            company: { slug },
            quantity: 1,
          }),
      ],
      [
        'traits',
        () => client.ok('POST', '/companies', { keys: { slug }, traits: { seats: random.below(1_000) } }),
      ],
      [
        'a trait that entitlements read',
        () => client.ok('POST', '/companies', { keys: { slug }, traits: { room: random.below(9) } }),
      ],
      [
        'a new trait',
        () => client.ok('POST', '/companies', { keys: { slug }, traits: { [`t${++made}`]: 'x' } }),
      ],
      [
        'a trait counted up',
        () => client.ok('POST', '/company-traits', { keys: { slug }, trait: 'seats', incr: 1 }),
      ],
      ['a name', () => client.ok('POST', '/companies', { keys: { slug }, name: `name ${++made}` })],
      ['another key', () => client.ok('POST', '/companies', { keys: { slug, [`k${walk}`]: `v${++made}` } })],
      ['a grant', () => world.grant(id, credit.id, 1 + random.below(50))],
      [
        'a grant that ends',
        () => world.grant(id, credit.id, 5, { expires_at: iso(nowMs + 1 + random.below(2 * minuteMs)) }),
      ],
      [
        'an override that ends',
        async () => {
          if (overrides.length > 0) {
            await client.ok('DELETE', `/company-overrides/${overrides.pop()}`)
            return
          }
          const one = await client.ok('POST', '/company-overrides', {
            company_id: id,
            feature_id: feature.id,
            value_type: 'boolean',
            value_bool: true,
            ...(random.chance(0.7) && { expiration_date: iso(nowMs + 1 + random.below(2 * minuteMs)) }),
          })
          overrides.push(one.id)
        },
      ],
      [
        'a plan',
        () =>
          client.ok('PUT', `/company-plans/${id}`, {
            base_plan_id: random.pick([metered.plan.id, other.id, null]),
          }),
      ],
      [
        'a user',
        async () => {
          const user = await client.ok('POST', '/users', {
            keys: { email: `u${++made}-${seed}@x.org` },
            company: { slug },
          })
          users.push(user.id)
        },
      ],
      [
        'a user who leaves',
        async () => {
          const user = users.pop()
          if (user !== undefined) await client.ok('DELETE', `/users/${user}`)
        },
      ],
      [
        'a rule',
        () => {
          const condition = {
            condition_type: 'trait',
            operator: random.pick(['gte', 'lt']),
            resource_ids: [],
            trait_id: room.id,
            trait_value: String(random.below(9)),
          }
          const rule = { name: `rule ${++made}`, priority: 1, value: random.chance(0.5) }
          const rules = [{ ...rule, conditions: [condition], condition_groups: [] }]
          return client.ok('PUT', `/flags/${alone.id}/rules`, { rules })
        },
      ],
      [
        'a type of traits',
        async () => {
          const [definition] = await client.ok('GET', '/entity-trait-definitions?entity_type=company&q=seats')
          await client.ok('PUT', `/entity-trait-definitions/${definition.id}`, {
            trait_type: definition.trait_type === 'number' ? 'string' : 'number',
          })
        },
      ],
      ['a name of a plan', () => client.ok('PUT', `/plans/${other.id}`, { name: `Other ${++made}` })],
      [
        'a customer of a billing provider',
        () =>
          client.ok('POST', '/billing/customer/upsert', {
            external_id: `cus${walk}-${seed}`,
            name: 'n',
            email: `b${++made}@x.org`,
            company_id: id,
            meta: {},
            failed_to_import: false,
          }),
      ],
      [
        'time',
        async () => {
          nowMs += random.pick([1, 1_000, minuteMs, dayMs, 20 * dayMs])
          await world.clock(iso(nowMs))
        },
      ],
    ]

    const customers = steps.findIndex(([name]) => name.startsWith('a customer'))
    const before = again()
    const flagsBefore = await flagsAgain()
    for (let step = 0; step < 100; step++) {
      // with billing of its own a company's view is not kept: only the last steps have it
      const at = random.below(steps.length)
      const [name, take] = steps[at === customers && step < 90 ? 0 : at]!
      // a check moves the last-seen time, which a view shows: so the two are looked at by turns
      const look = () => (step % 2 === 0 ? shown(slug, id) : shownFlags(slug))
      for (let times = 0; times < 3; times++) await look()
      await take()
      const { kept, made: now } = await look()
      if (!t.strictSame(kept, now, `walk ${walk}, step ${step}: ${name}`)) return
      // a write of what no figure rests on is answered with the figures as they are by now
      const trait = random.pick(['seats', 'room'])
      const body = { keys: { slug }, traits: { [trait]: random.below(1_000) } }
      const answer = random.chance(0.5)
        ? await client.ok('POST', '/companies', body)
        : await client.ok('POST', '/company-traits', {
            keys: { slug },
            trait,
            set: String(random.below(1_000)),
          })
      const [listed] = await client.ok('GET', `/companies?ids=${id}`)
      if (!t.strictSame(answer, listed, `walk ${walk}, step ${step}, a write after it: ${name}`)) return
      const second = await look()
      if (!t.strictSame(second.kept, second.made, `walk ${walk}, step ${step}, again: ${name}`)) return
    }
    t.ok(again() - before > 80, `${again() - before} views were given again`)
    const flags = (await flagsAgain()) - flagsBefore
    t.ok(flags > 60, `${flags} checks of all flags were answered again`)
  }
})

/** An instant a day later, with which a minute begins: answers are kept within a minute only. */
function nextEnd(): number {
  nowMs = Math.ceil((nowMs + dayMs) / minuteMs) * minuteMs
  return nowMs
}

t.test('EN-61, FE-91 an override ends in a kept answer at that millisecond', async t => {
  const slug = `override-${seed}`
  const endMs = nextEnd()
  await world.clock(iso(endMs - 2_000))
  const feature = await booleanFeature(client, 'Overridden')
  const id = await companyOf(client, tollgate, slug)
  await client.ok('POST', '/company-overrides', {
    company_id: id,
    feature_id: feature.id,
    value_type: 'boolean',
    value_bool: true,
    expiration_date: iso(endMs),
  })
  const flagId = feature.flags[0].id as string
  const value = async () => {
    const { flags } = await client.ok('POST', '/flags/check', { company: { slug } })
    return flags.find((flag: { readonly flag_id: string }) => flag.flag_id === flagId).value
  }
  t.equal(await value(), true)
  await world.clock(iso(endMs - 1))
  t.equal(await value(), true, 'an answer stays when it is asked for again')
  const before = await flagsAgain()
  t.equal(await value(), true)
  t.equal(await flagsAgain(), before + 1, 'the same answer')
  await world.clock(iso(endMs))
  t.equal(await value(), false)
})

t.test('CR-60 instants of a walk: what ends by time alone ends in the view at that millisecond', async t => {
  const slug = `ends-${seed}`
  const endMs = nextEnd()
  await world.clock(iso(endMs - 2_000))
  const credit = await world.credit()
  const id = await companyOf(client, tollgate, slug)
  await world.grant(id, credit.id, 7, { expires_at: iso(endMs) })
  const remaining = async () => (await shown(slug, id)).kept.company.billing_credit_balances[credit.id]
  for (let i = 0; i < 3; i++) t.equal(await remaining(), 7)
  const before = again()
  await world.clock(iso(endMs - 1))
  t.equal(await remaining(), 7)
  t.equal(again(), before + 1, 'the same view')
  await world.clock(iso(endMs))
  t.equal(await remaining(), 0)
})
