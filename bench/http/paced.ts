// Sends prepared requests at a steady rate, independent of the response times, and reports these. A process of its
// own. Arguments: port, file of the requests, requests a second, seconds, connections. Prints one line of JSON.
import { setTimeout as sleep } from 'node:timers/promises'
import { requestsOf } from '../population/prepared.js'
import { Asker, atRate } from './asker.js'

/** Its output; times of answered requests, ms. */
export interface Paced {
  readonly answered: number
  readonly refused: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

const [port, file, rate, seconds, connections] = process.argv.slice(2)
const warmUpMs = 500
const tookMs: number[] = []
let refused = 0
let open = 0
let ended = false

const asker = new Asker(requestsOf(file!), (status, sentMs) => {
  open--
  if (!status.startsWith('2')) refused++
  else if (sentMs >= begunMs + warmUpMs) tookMs.push(performance.now() - sentMs)
  if (ended && open === 0) tell()
})
await asker.open(Number(port), Number(connections))

const begunMs = performance.now()
const end = atRate(Number(rate), () => {
  open++
  asker.ask(performance.now())
})
await sleep(warmUpMs + Number(seconds) * 1_000)
end()
ended = true
if (open === 0) tell()

function tell(): void {
  asker.close()
  tookMs.sort((a, b) => a - b)
  const at = (share: number) => tookMs[Math.min(tookMs.length - 1, Math.floor(share * tookMs.length))] ?? 0
  const told: Paced = {
    answered: tookMs.length,
    refused,
    perSecond: tookMs.length / Number(seconds),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    maxMs: at(1),
  }
  process.stdout.write(`${JSON.stringify(told)}\n`)
}
