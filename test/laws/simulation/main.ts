// `npm run simulate -- --seed N --runs M`: simulations of seeds N, N+1, … The default is a random N.
// TOLLGATE_SIMULATE_BREAK=fsync|claim|chunk breaks a part on purpose, to test the checks.
import { parseArgs } from 'node:util'
import type { Break } from './machine.js'
import { simulate } from './run.js'

const { values } = parseArgs({
  options: { seed: { type: 'string' }, runs: { type: 'string' }, verbose: { type: 'boolean' } },
})
const first = Number(values.seed ?? Math.floor(Math.random() * 2 ** 30))
const runs = Number(values.runs ?? (values.seed === undefined ? 100 : 1))
const broken = (process.env.TOLLGATE_SIMULATE_BREAK ?? null) as Break

// An unhandled rejection would end a thread of the service.
let unheard: unknown = null
process.on('unhandledRejection', error => {
  unheard = error
})

let failed = 0
const total = { steps: 0, answers: 0, starts: 0 }
const began = performance.now()
console.log(`simulating ${runs} runs from seed ${first}`)
for (let seed = first; seed < first + runs; seed++) {
  unheard = null
  const outcome = await simulate(seed, broken)
  total.steps += outcome.steps
  total.answers += outcome.answers
  total.starts += outcome.starts
  const wrong = unheard === null ? outcome.wrong : [...outcome.wrong, `nobody heard of ${text(unheard)}`]
  if (values.verbose) for (const line of outcome.said) console.log(line)
  if (wrong.length > 0) {
    failed++
    console.log(`FAILED seed ${seed}: ${wrong.length} violations; ${again(seed)}`)
    for (const line of wrong.slice(0, values.verbose ? 100 : 5)) console.log(`  ${line}`)
  }
  const done = seed - first + 1
  if (done % 500 === 0) console.log(`${done} runs, ${failed} failed`)
}
const seconds = (performance.now() - began) / 1_000
console.log(
  `${runs} runs, ${failed} failed; ${total.answers} answers, ${total.starts} starts, ${total.steps} steps in ${seconds.toFixed(1)} s`,
)
process.exitCode = failed === 0 ? 0 : 1

/** The command line that repeats a seed. */
function again(seed: number): string {
  const broken_ = broken === null ? '' : `TOLLGATE_SIMULATE_BREAK=${broken} `
  return `${broken_}npm run simulate -- --seed ${seed} --verbose`
}

function text(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
