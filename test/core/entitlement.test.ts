// Which entitlement applies and what it tells (EN).
import t from 'tap'
import type { MetricPeriod } from '../../schemas/enums.js'
import { isMoreGenerous } from '../../src/core/entitlement.js'
import { vectors } from './vectors.js'

interface GenerosityCase {
  readonly input: {
    readonly first: { readonly allocation: number | null; readonly period: MetricPeriod | null }
    readonly second: { readonly allocation: number | null; readonly period: MetricPeriod | null }
  }
  readonly expected: { readonly first_is_more_generous: boolean }
}

t.test('allocation_generosity conformance', async t => {
  for (const { id, input, expected } of vectors<GenerosityCase>('allocation_generosity'))
    t.equal(isMoreGenerous(input.first, input.second), expected.first_is_more_generous, id)
})
