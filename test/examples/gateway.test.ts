// The gateway example on both frameworks: a plan's limit holds, the use is counted once, and a change of plan counts at once.
import type { AddressInfo } from 'node:net'
import express from 'express'
import fastify from 'fastify'
import t from 'tap'
import { entitled as entitledByExpress } from '../../examples/gateway/express.js'
import { entitled as entitledByFastify } from '../../examples/gateway/fastify.js'
import { clientOf, until } from '../clients/make.js'
import { publishedPlan } from '../control/planned.js'
import { startHere } from '../harness.js'

t.setTimeout(120_000)

const { client } = await startHere(t)
const feature = await client.ok('POST', '/features', {
  name: 'Exports',
  description: '',
  feature_type: 'event',
  event_subtype: 'export',
  flag: { key: 'exports', name: 'e', description: '', flag_type: 'boolean', default_value: false, rules: [] },
})
const numeric = { value_type: 'numeric', metric_period: 'current_month' }
const plan = await publishedPlan(client, 'Small', [{ feature_id: feature.id, ...numeric, value_numeric: 3 }])
const entitlement = { flag: 'exports', event: 'export' }

/** Serves /exports for the company that a header names; returns its address. */
type Serve = (tollgate: ReturnType<typeof clientOf>) => Promise<string>

const byExpress: Serve = async tollgate => {
  const app = express()
  const companyOf = (req: express.Request) => ({ slug: req.get('X-Company') ?? '' })
  app.get('/exports', entitledByExpress(tollgate, entitlement, companyOf), (_, res) => {
    res.json({ exported: true })
  })
  const server = app.listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const byFastify: Serve = async tollgate => {
  const app = fastify()
  const preHandler = entitledByFastify(tollgate, entitlement, req => ({
    slug: String(req.headers['x-company']),
  }))
  app.get('/exports', { preHandler }, async () => ({ exported: true }))
  t.teardown(() => app.close())
  return app.listen({ host: '127.0.0.1', port: 0 })
}

for (const [name, serve] of [
  ['Express', byExpress],
  ['Fastify', byFastify],
] as const)
  t.test(`${name} lets through what the plan allows`, async t => {
    const company = { slug: name.toLowerCase() }
    const { id } = await client.ok('POST', '/companies', { keys: company })
    await client.ok('PUT', `/company-plans/${id}`, { base_plan_id: plan.id })
    const tollgate = clientOf(t, client)
    await tollgate.ready()
    await tollgate.check('exports', { company })
    const url = await serve(tollgate)
    const asked = async () => {
      const response = await fetch(`${url}/exports`, { headers: { 'X-Company': company.slug } })
      return [response.status, await response.json(), response.headers.get('retry-after')] as const
    }
    const first = await Promise.all([asked(), asked(), asked(), asked(), asked()])
    t.same(first.map(([status]) => status).sort(), [200, 200, 200, 429, 429], 'three of five, all at once')
    const [status, body, retryAfter] = await asked()
    t.equal(status, 429)
    t.match(body, { error: String, reason: /exceeded/i })
    t.ok(Number(retryAfter) > 0, 'until the month ends')
    await tollgate.flush()
    const { feature_usage: usage } = await client.ok('POST', '/flags/exports/check', { company })
    t.equal(usage, 3, 'each counted once')
    await client.ok('POST', '/company-overrides', {
      company_id: id,
      feature_id: feature.id,
      ...numeric,
      value_numeric: 4,
    })
    await until(tollgate, () => tollgate.checkHeld('exports', { company })!.value)
    t.equal((await asked())[0], 200, 'one more by an override')
    t.equal((await asked())[0], 429)
  })
