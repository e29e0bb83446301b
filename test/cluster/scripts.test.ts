// The scripts of the simulated Redis (test/laws/cluster/scripts.ts) give the same answers as the product's
// scripts on a real one, command by command. So results of the simulation apply to the product.
import t from 'tap'
import { RedisClient } from '../../src/redis/redis.js'
import { claimsText, type ScriptName } from '../../src/redis/scripts.js'
import { type Argument, runScript, ScriptError, Values } from '../laws/cluster/scripts.js'
import { Random, times } from '../random.js'
import { skipped, TestRedis } from './nodes.js'

/** So long that nothing expires: a real Redis has its own clock. */
const longMs = 3_600_000

t.test('scripts, simulated and real', { skip: skipped }, async t => {
  const server = await TestRedis.start(t)
  const random = new Random()
  t.comment(`seed ${random.seed}`)
  for (let run = 0; run < times(3); run++) {
    const p = `same:{${run}}:`
    const redis = await RedisClient.open({ url: server.url, prefix: p, replicas: 0 })
    t.teardown(() => redis.close())
    const values = new Values()
    const marks = new Map<string, string>()
    for (let step = 0; step < 400; step++) {
      const [name, ...given] = command(random, p, marks)
      const real = await redis.run<unknown>(name, ...given).then(plain, errorOf)
      const simulated = simulatedOf(values, p, name, given)
      if (!t.strictSame(simulated, real, `${name} ${given.map(String).join(' ').slice(0, 200)}`)) return
      for (const hash of ['marks', 'shards'])
        for (const [shard, mark] of values.hashes.get(p + hash) ?? []) marks.set(shard, mark)
    }
  }
})

function simulatedOf(values: Values, p: string, name: ScriptName, given: readonly Argument[]): unknown {
  try {
    return plain(runScript(values, 0, p, name, given))
  } catch (error) {
    if (error instanceof ScriptError) return errorOf(error)
    throw error
  }
}

/** Sorts hashes, which have no order, and leaves out the time left of leases. */
function plain(answer: unknown): unknown {
  if (!Array.isArray(answer) || !Array.isArray(answer[1])) return answer
  const [changes, nodes, shards] = answer as [string, string[], string[]]
  const leased = nodes.map((word, i) => (i % 3 === 2 && word !== '0' ? 'leased' : word))
  return [changes, grouped(leased, 3), grouped(shards, 2)]
}

function grouped(words: readonly string[], by: number): readonly string[] {
  const groups: string[] = []
  for (let i = 0; i < words.length; i += by) groups.push(words.slice(i, i + by).join(' '))
  return groups.sort()
}

const errorOf = (error: unknown): string =>
  /FENCED|EXISTS|GAP|STOLEN/.exec(String(error))?.[0] ?? String(error)

/** A random command over few names, so that commands collide. */
function command(random: Random, p: string, marks: ReadonlyMap<string, string>): [ScriptName, ...Argument[]] {
  const node = random.pick(['a:1~x', 'b', 'c'])
  const shard = random.below(3)
  const mark = random.chance(0.85) ? (marks.get(String(shard)) ?? '0:') : '1:gone'
  const file = `${p}file:${shard}:f${random.below(2)}`
  const key = () => `${p}i:k${random.below(4)}`
  const payload = () => `evt_${random.below(3)}|1|${random.pick([5, 50])}|7`
  const epoch = mark.slice(0, mark.indexOf(':'))
  const place = () => `${shard}:${random.pick([epoch, '1'])}:${1 + random.below(3)}`
  const value = () => (random.chance(0.9) ? `p${place()}|${payload()}` : `p${shard}:${epoch}|${payload()}`)
  const floor = () => `${random.pick([epoch, '2'])}:${1 + random.below(4)}:${random.below(5)}`
  const asked = () => {
    const [of, since, n = 'none'] = value().slice(1).split('|')[0]!.split(':') as [string, string, string?]
    return [of, since, n, random.pick(['', '', 'settled'])]
  }
  const seals = () => random.pick([0, 5, 9, 10])
  const bytes = Buffer.from('ab\0ÿcd'.slice(0, 1 + random.below(6)), 'latin1')
  return random.pick<() => [ScriptName, ...Argument[]]>([
    () => ['join', node, '{"name":"n"}', longMs, 2],
    () => ['renew', node, longMs, random.pick(['', '{"name":"m"}'])],
    () => ['look'],
    () => ['leave', node, random.pick(['', '1'])],
    () => ['take', node, shard],
    () => ['take', node, shard],
    () => ['give', shard, mark, random.pick(['', node])],
    () => ['begin', shard, mark, file, file.slice(-2)],
    () => ['write', shard, mark, file, random.below(4), bytes, ''],
    () => ['write', shard, mark, file, 0, bytes, floor()],
    () => ['write', shard, mark, file, 1, bytes, '', shard, mark, file, 0, bytes, floor()],
    () => ['write', shard, mark, '', 0, '', floor()],
    () => ['cut', shard, mark, file, random.below(4)],
    () => ['reopen', shard, random.pick([node, mark.slice(mark.indexOf(':') + 1)]), random.below(9)],
    () => ['fence', shard, mark],
    () => ['fence', shard, mark],
    () => ['drop', shard, mark, file, file.slice(-2)],
    () => ['claim', longMs, seals(), claimsText([key(), value(), key(), value()])],
    () => ['claim', longMs, 10, claimsText([key(), `p${place()}|evt_0|1|5|7`])],
    () => ['claim', 0, seals(), claimsText([key(), value(), key(), value(), key(), value()])],
    () => ['sweep', '0', 1_000, random.pick([5, 50, 51])],
    () => ['fates', ...asked(), ...asked()],
    () => ['fates', ...asked(), ...asked(), ...asked(), ...asked()],
    () => ['swap', longMs, key(), `p${place()}|evt_0|1|5|7`, value(), key(), value(), value()],
    () => ['void', shard, `${epoch}:${1 + random.below(3)}`, longMs],
    () => ['mark', key(), `evt_${random.below(3)}`, key(), `evt_${random.below(3)}`],
    () => ['settled', shard, mark, random.pick(['', epoch, '1']), 1 + random.below(3), longMs, floor()],
    () => ['forget', seals(), key(), `evt_${random.below(3)}`, key(), `evt_${random.below(3)}`],
    () => ['free', key(), `p${place()}|evt_0|1|5|7`],
    () => ['pairs', random.pick(['x', 'y']), longMs, `${p}p:${random.below(3)}`, `${p}p:${random.below(3)}`],
    () => ['touch'],
  ])()
}
