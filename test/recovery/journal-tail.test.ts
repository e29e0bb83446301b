// A directory filled from rows that lie behind, and from the journals' tails, is the one that was lost: whatever the
// order in which two shards' facts are read, and whether or not the rows show some of the tail already.
// The seed is printed; TOLLGATE_SEED repeats a run.
import { join } from 'node:path'
import t from 'tap'
import { newId } from '../../src/account/ids.js'
import type { StoredClaims } from '../../src/analytics/history.js'
import { TraitRegistry } from '../../src/catalog/traits.js'
import type { Effect, Fact } from '../../src/core/model/message.js'
import { shardOf } from '../../src/core/values/id.js'
import { Directory } from '../../src/entities/directory/directory.js'
import { Dedupe } from '../../src/entities/idempotency/dedupe.js'
import { HoldKeys } from '../../src/entities/idempotency/hold-keys.js'
import { openFileJournal } from '../../src/journal/file-journal.js'
import { RecordFlag } from '../../src/journal/journal.js'
import { shardDirectory } from '../../src/journal/segment.js'
import { Phases } from '../../src/recovery/start-phases.js'
import { fillMemory } from '../../src/recovery/warm-up.js'
import { Positions } from '../../src/wire/positions.js'
import { Random } from '../random.js'
import { temporaryDirectory } from '../stores.js'

const shards = 2
const env = 'env_1'
const values = ['a', 'b', 'c', 'd']
const names = ['slug', 'crm']

interface Entity {
  readonly kind: 'c' | 'u'
  exists: boolean
  readonly keys: Map<string, string>
  readonly companies: Set<string>
}

/** The true state, and the state in the rows: entities by id. */
type World = Map<string, Entity>

function change(world: World, { k, id, fx }: Fact): void {
  if (k === 'e') return
  const entity = world.get(id) ?? { kind: k, exists: false, keys: new Map(), companies: new Set() }
  world.set(id, entity)
  for (const effect of fx)
    if (effect.t === 'created') entity.exists = true
    else if (effect.t === 'key') entity.keys.set(effect.name, effect.value)
    else if (effect.t === 'key_removed') entity.keys.delete(effect.name)
    else if (effect.t === 'joined') entity.companies.add(effect.companyId)
    else if (effect.t === 'left') entity.companies.delete(effect.companyId)
    else if (effect.t === 'deleted') {
      entity.exists = false
      entity.keys.clear()
      entity.companies.clear()
    }
}

/** Facts in the order they became durable: no pair is taken before it was given up. */
function history(random: Random, length: number): Fact[] {
  const world: World = new Map()
  const ids = [
    ...Array.from({ length: 5 }, () => newId('comp_')),
    ...Array.from({ length: 4 }, () => newId('user_')),
  ]
  const facts: Fact[] = []
  const owned = (kind: string, name: string, value: string) =>
    [...world.values()].some(one => one.kind === kind && one.keys.get(name) === value)
  for (let at = 1; at <= length; at++) {
    const id = random.pick(ids)
    const k = id.startsWith('comp_') ? 'c' : 'u'
    const entity = world.get(id)
    const fx: Effect[] = []
    if (entity?.exists && random.below(8) === 0)
      fx.push({ t: 'deleted', keys: [...entity.keys].map(([name, value]) => [name, value] as const) })
    else {
      if (!entity?.exists) fx.push({ t: 'created', name: id, atMs: at })
      const name = random.pick(names)
      const value = random.pick(values)
      const was = entity?.keys.get(name) ?? null
      if (was !== null && random.below(3) === 0) fx.push({ t: 'key_removed', name, value: was })
      else if (!owned(k, name, value)) fx.push({ t: 'key', name, value, was })
      const company = random.pick(ids)
      if (k === 'u' && company.startsWith('comp_') && world.get(company)?.exists)
        fx.push({ t: entity?.companies.has(company) ? 'left' : 'joined', companyId: company })
      if (at % 7 === 0)
        fx.push({
          t: 'trait_introduced',
          trait: { name: `t${at}`, hierarchy: [`t${at}`], traitType: 'string' },
        })
    }
    const fact: Fact = { k, id, env, at, fx }
    change(world, fact)
    facts.push(fact)
  }
  return facts
}

async function* rowsOf<Row>(rows: readonly Row[]): AsyncGenerator<readonly Row[]> {
  yield rows
}

function storedIn(world: World) {
  const all = [...world].filter(([, { exists }]) => exists)
  return {
    entities: () => rowsOf([{ environment_id: env, ids: all.map(([id]) => id) }]),
    pairs: () =>
      rowsOf(
        all.flatMap(([id, { kind, keys }]) =>
          [...keys].map(([name, value]) => ({
            environment_id: env,
            entity_type: kind === 'c' ? ('company' as const) : ('user' as const),
            name,
            ids: [id],
            values: [value],
          })),
        ),
      ),
    memberships: () =>
      rowsOf(
        all.flatMap(([user_id, { companies }]) =>
          [...companies].map(company_id => ({ user_id, company_id })),
        ),
      ),
  }
}

t.test('CU-1, CU-19 whom every pair belongs to after a start that waited for no projector', async t => {
  const random = new Random()
  t.comment(`seed ${random.seed}`)
  for (let run = 0; run < 60; run++) {
    const facts = history(random, 60)
    const truth: World = new Map()
    for (const fact of facts) change(truth, fact)
    const root = await temporaryDirectory(t)
    const positions = Positions.make(shards)
    const rows: World = new Map()
    for (let shard = 0; shard < shards; shard++) {
      const own = facts.filter(fact => shardOf(fact.id, shards) === shard)
      const { journal } = await openFileJournal({ directory: shardDirectory(join(root, 'journal'), shard) })
      if (own.length > 0)
        await journal.append(
          own.map(fact => ({
            flags: RecordFlag.identity,
            month: 0,
            row: '',
            fact: JSON.stringify(fact),
          })),
        )
      await journal.close()
      const position = random.below(own.length + 1)
      positions.set(shard, 'postgres', position)
      // a transaction of a process that was killed may have been committed after the position was read
      const shown = random.below(2) === 0 ? position : position + random.below(own.length - position + 1)
      for (const fact of own.slice(0, shown)) change(rows, fact)
    }
    const directory = new Directory()
    const traits = new TraitRegistry()
    await fillMemory(
      {
        journals: { directory: join(root, 'journal'), positions },
        entities: storedIn(rows),
        claims: () => noClaims,
        holdKeys: async () => {},
      },
      { directory, dedupe: new Dedupe(1_000), traits, holdKeys: new HoldKeys(1_000) },
      Date.now(),
      new Phases(),
    )
    for (const kind of ['company', 'user'] as const)
      for (const name of names)
        for (const value of values) {
          const owner = [...truth].find(
            ([, one]) => one.kind === kind[0] && one.exists && one.keys.get(name) === value,
          )
          const found = directory.resolve(kind, env, { [name]: value }).found
          if (found !== (owner?.[0] ?? null))
            t.fail(`run ${run}: ${kind} ${name} ${value} is ${found}'s, not ${owner?.[0]}'s`)
        }
    for (const [id, { kind, exists, companies }] of truth) {
      if (directory.has(env, id) !== exists) t.fail(`run ${run}: ${id} ${exists ? 'is not' : 'is'} known`)
      const members = [...companies].filter(company => truth.get(company)?.exists)
      if (kind === 'u')
        t.strictSame([...directory.companiesOf(env, id)].sort(), members.sort(), `run ${run}: ${id}`)
    }
    const introduced = facts.filter(({ fx }) => fx.some(({ t }) => t === 'trait_introduced'))
    const tail = introduced.filter(({ id, at }) => {
      const own = facts.filter(fact => shardOf(fact.id, shards) === shardOf(id, shards))
      return own.findIndex(fact => fact.at === at) >= positions.get(shardOf(id, shards), 'postgres')
    })
    t.equal(traits.list(env).length, tail.length, 'CU-30 traits first seen in the tail are known')
  }
})

const noClaims: StoredClaims = { count: async () => 0, pages: async function* () {} }

t.test('CR-80 a key whose hold Postgres does not show is still not free for others', async t => {
  const root = await temporaryDirectory(t)
  const { journal } = await openFileJournal({ directory: shardDirectory(join(root, 'journal'), 0) })
  const companyId = newId('comp_')
  const fx = [{ t: 'credit_hold', c: 'bcrd_1', k: 'reservation', key: 'once' }]
  const fact = JSON.stringify({ k: 'c', id: companyId, env, at: Date.now(), fx })
  await journal.append([{ flags: RecordFlag.ledger, month: 0, row: '', fact }])
  await journal.close()
  const holdKeys = new HoldKeys(1_000)
  await fillMemory(
    {
      journals: { directory: join(root, 'journal'), positions: Positions.make(1) },
      entities: storedIn(new Map()),
      claims: () => noClaims,
      holdKeys: async () => {},
    },
    { directory: new Directory(), dedupe: new Dedupe(1_000), traits: new TraitRegistry(), holdKeys },
    Date.now(),
    new Phases(),
  )
  const use = (company: string) =>
    holdKeys.with(env, 'reservation', 'once', company, Date.now(), async used => ({
      value: used,
      made: true,
    }))
  t.equal(await use(newId('comp_')).catch(error => error.code), 'idempotency_reused')
  t.equal(await use(companyId), true, 'its own company is told that it was used')
})
