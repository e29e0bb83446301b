// Whether the key-lookup cache pays on the population: finding the company of an event with the cache and without, by Zipf
// and alike, over 10,000 and 100,000 companies with two keys each.
import { encodeId } from '../../src/core/values/id.js'
import { Directory } from '../../src/entities/directory/directory.js'
import { Random, uniform, zipf } from '../population/random.js'

const environmentId = 'env_23456789ABC'
const asked = 100_000
const rounds = 9

for (const companies of [10_000, 100_000]) {
  const directory = new Directory()
  for (let n = 0; n < companies; n++) {
    const id = encodeId('comp_', n, n)
    directory.load(environmentId, id)
    directory.loadPair('company', environmentId, id, 'slug', `company-${n}`)
    directory.loadPair('company', environmentId, id, 'crm_id', `crm-${(n * 7_919).toString(36)}`)
  }
  for (const [name, draw] of [
    ['by Zipf', zipf(companies)],
    ['alike', uniform(companies)],
  ] as const) {
    const random = new Random(7)
    const sent = Array.from({ length: asked }, () => {
      const n = draw(random)
      const [key, value] =
        random.next() < 0.5 ? ['slug', `company-${n}`] : ['crm_id', `crm-${(n * 7_919).toString(36)}`]
      const text = JSON.stringify({ [key!]: value })
      const bytes = Buffer.from(text)
      const nameAt = 2
      const valueAt = nameAt + key!.length + 3
      const place = {
        at: 0,
        end: text.length,
        nameAt,
        nameEnd: nameAt + key!.length,
        valueAt,
        valueEnd: valueAt + value!.length,
      }
      return { sent: { text, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) }, place }
    })
    const cached = () => {
      for (const one of sent) directory.findSent('company', environmentId, one.sent, one.place)
    }
    const plain = () => {
      for (const { sent: body, place } of sent) {
        const key = body.text.slice(place.nameAt, place.nameEnd)
        const value = body.text.slice(place.valueAt, place.valueEnd)
        const id = directory.find('company', environmentId, key, value)
        if (id !== null) directory.has(environmentId, id)
      }
    }
    const [withCache = 0, without = 0] = least(cached, plain)
    console.log(
      `${companies.toLocaleString('en')} companies ${name}: ${withCache.toFixed(0)} ns with the cache, ${without.toFixed(0)} without`,
    )
  }
}

/** CPU time of one look-up, the least of rounds that alternate, ns. */
function least(...ways: readonly (() => void)[]): readonly number[] {
  const best = ways.map(() => Number.POSITIVE_INFINITY)
  for (let round = 0; round < rounds; round++)
    for (const [index, way] of ways.entries()) {
      const before = process.cpuUsage()
      way()
      const { user, system } = process.cpuUsage(before)
      best[index] = Math.min(best[index]!, ((user + system) * 1_000) / asked)
    }
  return best
}
