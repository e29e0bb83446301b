// Costs and savings of the response cache on the population: its hit ratio, by a model of its places and times, and
// the HTTP thread's time for lookups, inserts and counts.
import { hashOfRequest, ResponseCache } from '../../src/kept/response-cache.js'
import { Changes } from '../../src/wire/version-counters.js'
import { sizes } from '../population/data.js'
import { Random, uniform, zipf } from '../population/random.js'

const environmentId = 'env_23456789ABC'
const places = 1 << 14
const keptSeconds = 5
/** Seconds between two edits of a rule. The service drops the answers of its flag; this bench drops all answers. */
const editSeconds = 5

tellShare('one flag, companies by Zipf', zipf(sizes.town), 50, 50_000)
tellShare('one flag, companies alike', uniform(sizes.town), 50, 50_000)
tellShare('all flags, companies by Zipf', zipf(sizes.town), 1, 12_000)
tellShare('all flags, companies alike', uniform(sizes.town), 1, 12_000)
tellCosts()

/** A cache with one place for each hash: kept when asked for a second time, for five seconds at most. */
function tellShare(name: string, draw: (random: Random) => number, flags: number, perSecond: number): void {
  const random = new Random(1)
  const seen = new Int32Array(places)
  const held = new Int32Array(places)
  const until = new Float64Array(places)
  let [answered, kept] = [0, 0]
  const count = perSecond * 20
  for (let i = 0; i < count; i++) {
    const second = i / perSecond
    if (i % (perSecond * editSeconds) === 0) until.fill(0)
    const keys = random.below(2)
    const user = random.next() < 0.5 ? 0 : 1 + random.below(2)
    const asked = ((draw(random) * flags + random.below(flags)) * 2 + keys) * 3 + user + 1
    const place = (Math.imul(asked ^ (asked >>> 15), 0x85ebca6b) >>> 16) & (places - 1)
    if (held[place] === asked && until[place]! > second) answered++
    else if (seen[place] === asked) {
      held[place] = asked
      until[place] = second + keptSeconds
      kept++
    } else seen[place] = asked
  }
  const share = (part: number) => `${((100 * part) / count).toFixed(1)} %`
  console.log(
    `${name}, ${perSecond.toLocaleString('en')}/s: answered again ${share(answered)}, kept ${share(kept)}`,
  )
}

function tellCosts(): void {
  const changes = Changes.make(1)
  changes.open(0)
  const bodies = Array.from({ length: 50_000 }, (_, i) => {
    const user = { email: `user-${2 * i}@company-${i}.example` }
    const bytes = Buffer.from(JSON.stringify({ company: { slug: `company-${i}` }, user }))
    return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  })
  const data = {
    flag: 'own-1',
    flag_id: 'flag_9gMkjCnjpJC',
    value: true,
    reason: 'Matched a rule of some plan',
    rule_id: 'rule_9gMkjCnjpJC',
    company_id: 'comp_9gMkjCnjpJC',
    user_id: 'user_9gMkjCnjpJC',
    feature_usage: 55,
    feature_allocation: 1_000,
  }
  const text = JSON.stringify({ data, params: { key: 'own-1' } })
  const fresh = () => new ResponseCache(changes, { keyEpoch: 0 })
  const put = (answers: ResponseCache, body: DataView) => {
    const stamp = answers.stamp(environmentId, data.company_id, 'own-1', 0)!
    answers.keep(requestOf(body), text, { ...stamp, untilMs: Number.MAX_SAFE_INTEGER, figures: false })
  }
  const requestOf = (body: DataView) => {
    const hash = hashOfRequest('own-1', body)
    return { hash, environmentId, name: 'own-1', body, nowMs: 1 }
  }
  const find = (answers: ResponseCache, body: DataView) => answers.find(requestOf(body))
  const looking = fresh()
  cost('look for what is not there', 200_000, i => {
    const body = bodies[i % bodies.length]!
    if (find(looking, body) === null) looking.repeated(requestOf(body))
  })
  const keeping = fresh()
  cost('keep an answer', 50_000, i => put(keeping, bodies[i % 8_000]!))
  const finding = fresh()
  for (const body of bodies.slice(0, 500)) put(finding, body)
  cost('give one again', 200_000, i => find(finding, bodies[i % 500]!))
  cost('count what was given again in a second', 5_000, i => {
    find(finding, bodies[i % 500]!)
    finding.takeCounts(0)
  })
}

/** The least of some rounds: the machine may be busy. */
function cost(name: string, times: number, work: (i: number) => void): void {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < 8; round++) {
    const before = process.cpuUsage()
    for (let i = 0; i < times; i++) work(i)
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / times)
  }
  console.log(`${name}: ${least.toFixed(2)} µs`)
}
