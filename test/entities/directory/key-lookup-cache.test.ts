// The cached entity of a key's bytes: stored for exactly these bytes, in this environment, since the last key epoch.
import t from 'tap'
import { KeyLookupCache } from '../../../src/entities/directory/key-lookup-cache.js'
import { sentKey } from '../../control/sent-key.js'
import { Random } from '../../random.js'

t.test('law: a lookup finds the id stored last for the same bytes', async t => {
  const random = new Random()
  t.comment(`TOLLGATE_SEED=${random.seed}`)
  const met = new KeyLookupCache()
  const kept = new Map<string, string>()
  let keyEpoch = 0
  let found = 0
  let missed = 0
  // more keys than places, so that they take each other's
  const lengths = random.below(30)
  for (let i = 0; i < 300_000; i++) {
    if (random.chance(0.000_05)) {
      keyEpoch++
      kept.clear()
    }
    const environment = random.pick(['env_1', 'env_2'])
    const value = `${'v'.repeat(random.chance(0.1) ? random.below(60) : lengths)}${random.below(random.pick([40, 60_000]))}`
    const { body, key } = sentKey(random.pick(['id', 'slug']), value, random.below(5))
    const { view } = body
    const name = `${environment} ${body.text.trim()}`
    const id = met.get(environment, view, key.at, key.end, keyEpoch)
    if (id === null) {
      missed++
      met.put(view, key.at, key.end, keyEpoch, `comp_${i}`)
      const again = met.get(environment, view, key.at, key.end, keyEpoch)
      const fits = key.end - key.at <= 48
      if (again !== (fits ? `comp_${i}` : null)) return t.fail(`${name}: ${again}, just kept as comp_${i}`)
      kept.set(name, `comp_${i}`)
    } else {
      found++
      if (id !== kept.get(name)) return t.fail(`${name}: ${id} instead of ${kept.get(name)}`)
    }
  }
  t.ok(found > 10_000 && missed > 10_000, `${found} found, ${missed} not`)
})

t.test('keys that share a place are told apart, alike as they are', async t => {
  const characters = [...'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  const met = new KeyLookupCache()
  const all = characters.flatMap(one => characters.map(other => one + other))
  const lost: number[] = []
  for (let pass = 0; pass < 20; pass++) {
    lost.push(0)
    for (const end of all) {
      const { body, key } = sentKey('id', `acme-corporation-${end}`)
      const id = met.get('env_1', body.view, key.at, key.end, 0)
      if (id === null) {
        lost[pass]!++
        met.put(body.view, key.at, key.end, 0, end)
      } else if (id !== end) return t.fail(`${end} finds ${id}`)
    }
  }
  t.equal(lost[0], all.length, 'what was never kept is not found')
  const last = lost.at(-1)!
  t.ok(last > 10 && last < all.length / 4, `${last} of ${all.length} lose their place to another in the end`)
})

t.test('bytes that differ anywhere are not the same', async t => {
  for (const value of ['', 'a', 'acme', 'acme-corporation-1', 'x'.repeat(39)]) {
    const met = new KeyLookupCache()
    const { body, key } = sentKey('id', value)
    t.equal(met.get('env_1', body.view, key.at, key.end, 0), null)
    met.put(body.view, key.at, key.end, 0, 'comp_1')
    t.equal(met.get('env_1', body.view, key.at, key.end, 0), 'comp_1')
    t.equal(met.get('env_2', body.view, key.at, key.end, 0), null)
    t.equal(met.get('env_1', body.view, key.at, key.end, 1), null)
    for (let i = 0; i < key.end; i++) {
      const other = new DataView(body.view.buffer.slice(body.view.byteOffset, body.view.byteOffset + key.end))
      other.setUint8(i, other.getUint8(i) ^ 1)
      if (met.get('env_1', other, 0, key.end, 0) !== null) t.fail(`${value}: byte ${i}`)
    }
  }
})
