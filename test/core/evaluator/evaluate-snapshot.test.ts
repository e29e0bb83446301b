// The evaluator over snapshots answers the flag_check conformance cases, as result and as serialised (FE).
import t from 'tap'
import type { EngineCompany, EngineFlag, EngineUser } from '../../../src/core/evaluator/engine-shapes.js'
import { evaluate, type PreflightBody } from '../../../src/core/evaluator/evaluate-snapshot.js'
import { writeCheck } from '../../../src/core/flags/flag.js'
import { at, vectors } from '../vectors.js'

interface FlagCase {
  readonly title: string
  readonly now: string
  readonly input: {
    readonly flag: EngineFlag
    readonly company: EngineCompany | null
    readonly user: EngineUser | null
    readonly preflight: PreflightBody | null
  }
  readonly expected: Readonly<Record<string, unknown>> & {
    readonly entitlement: Readonly<Record<string, unknown>> | null
  }
}

/** Instants in one spelling: the cases leave the milliseconds out (decision 9 writes them). */
const spelled = (text: unknown) => (typeof text === 'string' ? new Date(at(text)).toISOString() : text)

t.test('flag_check conformance', async t => {
  for (const { id, title, now, input, expected } of vectors<FlagCase>('flag_check')) {
    const checked = evaluate(input.flag, input.company, input.user, input.preflight, at(now))
    const { entitlement } = expected
    const wanted: Record<string, unknown> = {
      ...expected,
      feature_usage_reset_at: spelled(expected.feature_usage_reset_at),
      entitlement: entitlement && { ...entitlement },
    }
    if (entitlement?.metric_reset_at)
      wanted.entitlement = { ...entitlement, metric_reset_at: spelled(entitlement.metric_reset_at) }
    if (entitlement === null) delete wanted.entitlement
    t.strictSame(JSON.parse(writeCheck(checked)), wanted, `${id} ${title}`)
  }
})
