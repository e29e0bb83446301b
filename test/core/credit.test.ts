// The credit core against the specification's cases and rules.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { run, type Scenario } from './credit-scenario.js'

const vectors = JSON.parse(
  readFileSync(new URL('../../../test/fixtures/conformance-vectors.json', import.meta.url), 'utf8'),
)

t.test('credit scenarios of the conformance cases', async t => {
  for (const scenario of vectors.credit_scenarios as Scenario[]) {
    const { steps, final } = run(scenario)
    t.same(
      { steps, final },
      { steps: scenario.steps.map(step => step.expect), final: scenario.final },
      scenario.id,
    )
  }
})
