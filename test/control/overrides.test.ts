// Company overrides over HTTP: values, expiry, notes, filters, and that the next check sees them.
import t from 'tap'
import { startHere } from '../harness.js'
import { booleanFeature, eventFeature, publishedPlan } from './planned.js'
import { isShaped, shapes } from './shape.js'

t.test('company overrides', async t => {
  const { client } = await startHere(t)
  const exports_ = await eventFeature(client, 'Exports', 'export')
  const dark = await booleanFeature(client, 'Dark mode')
  const company = await client.ok('POST', '/companies', { keys: { slug: 'acme' } })
  const other = await client.ok('POST', '/companies', { keys: { slug: 'other' } })
  const later = new Date(Date.now() + 3_600_000).toISOString()
  const create = (body: object) => client.post('/company-overrides', { company_id: company.id, ...body })
  const check = async (key: string, slug = 'acme') =>
    client.ok('POST', `/flags/${key}/check`, { company: { slug } })

  await t.test('EN-3, EN-5, EN-60 created, seen by the next check, and gone with its deletion', async t => {
    const answer = await create({
      feature_id: dark.id,
      value_type: 'boolean',
      value_bool: true,
      value_numeric: 4,
      expiration_date: later,
      note: 'for the pilot',
    })
    t.equal(answer.status, 201)
    const override = answer.body.data
    isShaped(t, override, shapes.companyOverride, 'CompanyOverride')
    isShaped(t, override.notes[0], shapes.companyOverrideNote, 'CompanyOverrideNote')
    t.match(override, {
      id: /^cmov_/,
      company_id: company.id,
      feature: { id: dark.id },
      rule_id: /^rule_/,
      rule_id_usage_exceeded: null,
      value_bool: true,
      value_numeric: null,
      expiration_date: later,
      notes: [{ note: 'for the pilot' }],
    })
    t.match(await check('dark-mode'), {
      value: true,
      rule_id: override.rule_id,
      rule_type: 'company_override',
    })
    const { company: shown, ...alone } = await client.ok('GET', `/company-overrides/${override.id}`)
    t.same({ ...alone, company: override.company }, override)
    t.equal(shown.id, company.id)
    t.equal((await create({ feature_id: dark.id, value_type: 'unlimited' })).status, 400, 'EN-4')
    t.same((await client.del(`/company-overrides/${override.id}`)).body.data, { deleted: true })
    t.equal((await client.del(`/company-overrides/${override.id}`)).status, 404, 'AL-34')
    t.equal((await client.get(`/company-overrides/${override.id}`)).status, 404)
    t.match(await check('dark-mode'), { value: false })
  })

  await t.test('EN-4 PUT makes, changes, and makes anew after an end; many at once make one', async t => {
    const put = (body: object) =>
      client.put('/company-overrides', { company_id: other.id, feature_id: exports_.id, ...body })
    const numeric = { value_type: 'numeric', value_numeric: 5, metric_period: 'all_time' }
    const list = `/company-overrides?company_id=${other.id}&feature_id=${exports_.id}`
    // a loser hears of the winner's before it is committed, or of an end before Postgres shows it
    for (let round = 0; round < 30; round++) {
      const answers = await Promise.all(
        [1, 2, 3, 4, 5, 6].map(() => put({ ...numeric, expiration_date: later })),
      )
      t.same([...new Set(answers.map(({ status }) => status))], [200], `round ${round}`)
      const ids = new Set(answers.map(({ body }) => body.data?.id))
      t.equal(ids.size, 1)
      for (const id of ids) await client.del(`/company-overrides/${id}`)
    }
    t.same(await client.ok('GET', list), [])
    t.equal((await put({ ...numeric, expiration_date: later })).status, 200)
    const [made, ...rest] = await client.ok('GET', list)
    t.same(rest, [])
    const changed = await put({ value_numeric: 7 })
    t.match(changed, {
      status: 200,
      body: { data: { id: made.id, value_numeric: 7, expiration_date: later } },
    })
    t.match(await put({ expiration_date: null }), {
      status: 200,
      body: { data: { id: made.id, value_numeric: 7, expiration_date: null } },
    })
    t.equal((await put({ value_numeric: -1 })).status, 400)
    t.equal((await put({ feature_id: 'feat_none' })).status, 404)
    t.equal((await put({ company_id: 'comp_none' })).status, 404)
    await client.ok('DELETE', `/company-overrides/${made.id}`)
    const anew = await put(numeric)
    t.equal(anew.status, 200)
    t.not(anew.body.data.id, made.id)
    await client.ok('DELETE', `/company-overrides/${anew.body.data.id}`)
  })

  await t.test('EN-18, EN-61, AL-32 what is refused', async t => {
    const status = async (body: object) => (await create(body)).status
    t.equal(await status({ feature_id: dark.id, value_type: 'boolean' }), 400)
    t.equal(await status({ feature_id: exports_.id, value_type: 'numeric', value_numeric: -1 }), 400)
    t.equal(await status({ feature_id: exports_.id, value_type: 'trait' }), 400)
    t.equal(
      await status({
        feature_id: exports_.id,
        value_type: 'credit',
        value_credit_id: 'bcrd_none',
        credit_consumption_rate: 1,
      }),
      404,
    )
    t.equal(await status({ feature_id: 'feat_none', value_type: 'unlimited' }), 404)
    t.equal(await status({ feature_id: dark.id, value_type: 'unlimited', company_id: 'comp_none' }), 404)
    t.equal(
      await status({ feature_id: dark.id, value_type: 'unlimited', expiration_date: '2001-01-01T00:00:00Z' }),
      400,
    )
    t.equal(await status({ feature_id: dark.id, value_type: 'unlimited', expiration_date: 'soon' }), 400)
    t.equal((await client.put('/company-overrides/cmov_none', { value_type: 'unlimited' })).status, 404)
    t.equal((await client.post('/company-overrides/cmov_none', { value_type: 'unlimited' })).status, 404)
    t.equal((await client.get('/company-overrides/cmov_none')).status, 404)
  })

  await t.test('EN-60 (D7) an expired override makes room for a new one', async t => {
    const { environment_id: environmentId } = await client.ok('GET', '/whoami')
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString()
    const late = await client.ok('POST', '/companies', { keys: { slug: 'late' } })
    const body = { company_id: late.id, feature_id: exports_.id, value_type: 'numeric', value_numeric: 1 }
    const first = await client.ok('POST', '/company-overrides', {
      ...body,
      expiration_date: inAnHour,
      note: 'for an hour',
    })
    t.equal((await client.post('/company-overrides', body)).status, 400, 'EN-4 while it is in force')
    await client.ok('PUT', `/environments/${environmentId}/clock`, { now: inAnHour, frozen: true })
    const second = await client.ok('POST', '/company-overrides', { ...body, value_numeric: 7 })
    t.match(second, { value_numeric: 7, expiration_date: null, notes: [] })
    t.not(second.id, first.id)
    t.match(
      await client.ok('GET', `/company-overrides/${first.id}`),
      { id: first.id, value_numeric: 1, notes: [{}] },
      'N11 the expired one stays readable',
    )
    t.equal((await client.ok('GET', `/company-overrides?company_id=${late.id}`)).length, 2)
    t.match(await check('exports', 'late'), { value: true, entitlement: { allocation: 7 } })
    t.equal((await client.post('/company-overrides', body)).status, 400, 'EN-4 again')
    t.same(await client.ok('DELETE', `/company-overrides/${first.id}`), { deleted: true })
    t.equal((await client.get(`/company-overrides/${first.id}`)).status, 404)
    t.match(await check('exports', 'late'), { value: true, entitlement: { allocation: 7 } })
    await client.ok('DELETE', `/companies/${late.id}`)
    await client.ok('DELETE', `/environments/${environmentId}/clock`)
  })

  await t.test(
    'decision 26 (D6) what an update leaves out stays; another type clears what it does not have',
    async t => {
      const created = await create({
        feature_id: exports_.id,
        value_type: 'numeric',
        value_numeric: 3,
        metric_period: 'current_month',
        metric_period_month_reset: 'billing_cycle',
        expiration_date: later,
      })
      const { id } = created.body.data
      const window = { metric_period: 'current_month', metric_period_month_reset: 'billing_cycle' }
      const put = (body: object) => client.ok('PUT', `/company-overrides/${id}`, body)
      t.match(await put({ value_type: 'numeric', value_numeric: 6 }), { ...window, value_numeric: 6 })
      t.match(await put({ value_numeric: 7 }), { ...window, value_type: 'numeric', value_numeric: 7 })
      t.match(await put({}), { ...window, value_numeric: 7, expiration_date: later })
      t.match(await put({ metric_period_month_reset: null }), { metric_period_month_reset: 'first_of_month' })
      t.match(await put({ metric_period: null }), { metric_period: null, value_numeric: 7 })
      t.equal((await client.put(`/company-overrides/${id}`, { value_numeric: null })).status, 400)
      t.match(await put({ value_type: 'unlimited' }), { value_type: 'unlimited', value_numeric: null })
      await client.ok('DELETE', `/company-overrides/${id}`)
    },
  )

  await t.test('EN-64, decision 6 an update by POST or PUT changes the value', async t => {
    const created = await create({
      feature_id: exports_.id,
      value_type: 'numeric',
      value_numeric: 3,
      expiration_date: later,
    })
    const { id, rule_id, rule_id_usage_exceeded } = created.body.data
    t.match(rule_id_usage_exceeded, /^rule_/)
    const put = await client.put(`/company-overrides/${id}`, { value_type: 'unlimited', note: 'two' })
    t.equal(put.status, 200)
    t.match(put.body.data, {
      id,
      rule_id,
      value_type: 'unlimited',
      value_numeric: null,
      rule_id_usage_exceeded: null,
      expiration_date: later,
      notes: [{ note: 'two' }],
    })
    const posted = await client.ok('POST', `/company-overrides/${id}`, {
      value_type: 'numeric',
      value_numeric: 1,
      metric_period: 'current_day',
      expiration_date: null,
      note: 'three',
    })
    t.match(posted, {
      value_numeric: 1,
      metric_period: 'current_day',
      expiration_date: null,
      notes: [{ note: 'two' }, { note: 'three' }],
    })
    t.match(await check('exports'), { value: true, entitlement: { allocation: 1 } })
    await client.ok('DELETE', `/company-overrides/${id}`)
  })

  await t.test('EN-21, EN-22, EN-63 an override beside a plan', async t => {
    const plan = await publishedPlan(client, 'Pro', [
      { feature_id: dark.id, value_type: 'boolean', value_bool: true },
      { feature_id: exports_.id, value_type: 'numeric', value_numeric: 1 },
    ])
    const held = await client.ok('POST', '/companies', { keys: { slug: 'held' }, base_plan_id: plan.id })
    t.match(await check('dark-mode', 'held'), { value: true })
    const body = { company_id: held.id, feature_id: dark.id, value_type: 'boolean', value_bool: false }
    const off = await client.ok('POST', '/company-overrides', body)
    t.match(
      await check('dark-mode', 'held'),
      { value: false, rule_id: off.rule_id },
      'EN-21 a boolean one beats the plan',
    )
    await client.ok('POST', '/company-overrides', {
      ...body,
      feature_id: exports_.id,
      value_type: 'numeric',
      value_numeric: 5,
    })
    t.match(await check('exports', 'held'), { value: true, entitlement: { allocation: 5 } }, 'EN-22')
  })

  await t.test('EN-60, EN-61 expiry is exact, and an expired one stays readable', async t => {
    const { environment_id: environmentId } = await client.ok('GET', '/whoami')
    const now = Date.now()
    const at = (seconds: number) => new Date(now + seconds * 1000).toISOString()
    const override = await client.ok('POST', '/company-overrides', {
      company_id: other.id,
      feature_id: dark.id,
      value_type: 'boolean',
      value_bool: true,
      expiration_date: at(7200),
    })
    const clock = (body: object) => client.ok('PUT', `/environments/${environmentId}/clock`, body)
    await clock({ now: at(7199), frozen: true })
    t.match(await check('dark-mode', 'other'), { value: true })
    await clock({ now: at(7200), frozen: true })
    t.match(await check('dark-mode', 'other'), { value: false }, 'from that instant')
    t.equal((await client.ok('GET', `/company-overrides/${override.id}`)).id, override.id)
    const listed = (filter: string) => client.ok('GET', `/company-overrides?company_id=${other.id}${filter}`)
    t.equal((await listed('')).length, 1)
    t.equal((await listed('&without_expired=true')).length, 0)
    const kept = await client.ok('PUT', `/company-overrides/${override.id}`, { value_bool: true })
    t.equal(kept.expiration_date, at(7200), 'decision 26 absent is unchanged, so it stays expired')
    const past = { expiration_date: at(7100) }
    t.equal((await client.put(`/company-overrides/${override.id}`, past)).status, 400, 'EN-61')
    await client.ok('PUT', `/company-overrides/${override.id}`, {
      value_type: 'boolean',
      value_bool: true,
      expiration_date: null,
    })
    t.match(await check('dark-mode', 'other'), { value: true })
    await client.ok('DELETE', `/environments/${environmentId}/clock`)
  })

  await t.test('the filters of GET /company-overrides', async t => {
    const count = async (filter: string) => {
      const listed = await client.get(`/company-overrides?${filter}`)
      t.equal(listed.status, 200)
      const counted = await client.ok('GET', `/company-overrides/count?${filter}`)
      t.equal(counted.count, listed.body.data.length, filter)
      return counted.count
    }
    t.equal(await count(''), 3)
    t.equal(await count(`company_ids=${other.id}&company_ids=${company.id}`), 1)
    t.equal(await count(`feature_id=${dark.id}`), 2)
    t.equal(await count(`feature_ids=${exports_.id}&feature_ids=${dark.id}`), 3)
    t.equal(await count('q=EXPORTS'), 1)
    t.equal(await count('q=held'), 2)
    const [first] = await client.ok('GET', '/company-overrides?limit=1')
    t.equal(await count(`ids=${first.id}`), 1)
  })

  await t.test('CU-50 a deleted company takes its overrides with it', async t => {
    const gone = await client.ok('POST', '/companies', { keys: { slug: 'gone' } })
    const body = { company_id: gone.id, feature_id: dark.id, value_type: 'unlimited' }
    const override = await client.ok('POST', '/company-overrides', body)
    await client.ok('DELETE', `/companies/${gone.id}`)
    t.equal((await client.get(`/company-overrides/${override.id}`)).status, 404)
    t.equal((await client.post('/company-overrides', body)).status, 404)
  })
})

t.test('decision 32 an override that Postgres does not show yet is taken', async t => {
  const { client, tollgate } = await startHere(t)
  const [first, second] = [await booleanFeature(client, 'Dark mode'), await booleanFeature(client, 'Exports')]
  const company = await client.ok('POST', '/companies', { keys: { slug: 'acme' } })
  const body = (feature: { id: string }, value_bool: boolean) => ({
    company_id: company.id,
    feature_id: feature.id,
    value_type: 'boolean',
    value_bool,
  })
  const had = await client.ok('POST', '/company-overrides', body(first, false))
  // the projection waits for its rows, reads do not
  const held = await tollgate.services.sql.reserve()
  await held`begin`
  await held`lock table company_overrides in share row exclusive mode`
  const answers = await Promise.all([
    client.put(`/company-overrides/${had.id}`, { value_bool: true }),
    client.post('/company-overrides', body(second, true)),
  ])
  await held`rollback`
  held.release()
  for (const { status, body } of answers) {
    t.equal(status, 202)
    t.same(body.data, { taken: true })
  }
  for (const key of ['dark-mode', 'exports'])
    t.equal((await client.ok('POST', `/flags/${key}/check`, { company: { slug: 'acme' } })).value, true)
})
