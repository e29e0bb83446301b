// The metered AI example: as many answers as there are credits, whatever happens at the same time; what failed costs nothing.
import t from 'tap'
import { type Completion, MeteredEndpoint, OutOfCredits } from '../../examples/metered-ai/endpoint.js'
import { clientOf } from '../clients/make.js'
import { publishedPlan } from '../control/planned.js'
import { startHere } from '../harness.js'
import { CreditWorld } from '../interface/credit-world.js'

t.setTimeout(120_000)

const { client } = await startHere(t)
const world = new CreditWorld(client)
const credit = await world.credit()
const feature = await client.ok('POST', '/features', {
  name: 'Answers',
  description: '',
  feature_type: 'event',
  event_subtype: 'answer',
  event_source: 'inference',
})
const plan = await publishedPlan(client, 'Answers', [
  {
    feature_id: feature.id,
    value_type: 'credit',
    value_credit_id: credit.id,
    credit_consumption_rate: 5,
    price_behavior: 'credit_burndown',
  },
])
const metering = { creditId: credit.id, event: 'answer', credits: 5, leased: 20 }

const model = async (prompt: string): Promise<Completion> => {
  if (prompt === 'fail') throw new Error('the model is away')
  const words = prompt.split(' ')
  return { text: words.toReversed().join(' '), inputTokens: words.length, outputTokens: words.length }
}

t.test('answers are drawn from a lease and settled by inference events', async t => {
  const made = await world.company({ base_plan_id: plan.id })
  await world.grant(made.id, credit.id, 100)
  const tollgate = clientOf(t, client, { local: false })
  const endpoint = new MeteredEndpoint(tollgate, model, metering)
  const company = { id: made.id, keys: made.keys }
  t.equal(await endpoint.answer(company, 'one two'), 'two one')
  await t.rejects(endpoint.answer(company, 'fail'), /away/)
  for (let i = 0; i < 9; i++) await endpoint.answer(company, `prompt ${i}`)
  await endpoint.close()
  t.same(await world.balance(made.id, credit.id), [50, 0, 50], 'ten answers, and none for what failed')
})

t.test('no more answers than there are credits, many at once', async t => {
  const made = await world.company({ base_plan_id: plan.id })
  await world.grant(made.id, credit.id, 33)
  const tollgate = clientOf(t, client, { local: false })
  const endpoint = new MeteredEndpoint(tollgate, model, metering)
  const company = { id: made.id, keys: made.keys }
  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, (_, i) => endpoint.answer(company, `p ${i}`)),
  )
  const refused = outcomes.filter(one => one.status === 'rejected')
  t.ok(refused.every(one => one.reason instanceof OutOfCredits || one.reason.status === 402))
  let answered = outcomes.length - refused.length
  // those that came while the lease was being extended may have been refused: there are credits for six in all
  for (let i = 0; i < 10; i++)
    await endpoint.answer(company, `again ${i}`).then(
      () => answered++,
      () => {},
    )
  t.equal(answered, 6)
  await endpoint.close()
  t.same(await world.balance(made.id, credit.id), [3, 0, 3])
})
