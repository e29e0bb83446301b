// Equal parts of many companies are kept once, and still each company has its own (decision: bytes per company).

import fc from 'fast-check'
import t from 'tap'
import { Names, SmallMap } from '../../../src/core/values/shared-names.js'
import { type NamedText, NamedTexts } from '../../../src/core/values/text-map.js'
import { seed } from '../../random.js'

t.comment(`seed ${seed}`)

/** Few names meet each other often, many names make lists longer than are shared. */
const name = fc.oneof(
  fc.constantFrom('seats', 'region', 'tier', '__proto__', 'constructor', ''),
  fc.nat({ max: 60 }).map(n => `name ${n}`),
)
const change = fc.record({
  name,
  value: fc.option(fc.constantFrom('a', 'b', 'c')),
  createdAtMs: fc.constantFrom(1, 2),
  updatedAtMs: fc.constantFrom(2, 3, 4.5),
})
const changes = fc.array(change, { maxLength: 120 })

t.test('CU-30 keys and traits equal a Map, in its order, with shared names or not', async () => {
  const apply = (
    texts: NamedTexts,
    model: Map<string, NamedText>,
    done: typeof changes extends fc.Arbitrary<infer T> ? T : never,
  ) => {
    for (const { name, value, createdAtMs, updatedAtMs } of done)
      if (value === null) {
        if (texts.delete(name) !== model.delete(name)) throw new Error(`delete ${name}`)
      } else {
        texts.put(name, value, createdAtMs, updatedAtMs)
        model.set(name, { value, createdAtMs, updatedAtMs })
      }
  }
  const isSame = (texts: NamedTexts, model: Map<string, NamedText>) =>
    JSON.stringify([...texts]) === JSON.stringify([...model]) &&
    texts.size === model.size &&
    [...model].every(([name, one]) => texts.has(name) && texts.text(name) === one.value) &&
    JSON.stringify([...model.keys()].map(name => texts.get(name))) === JSON.stringify([...model.values()])
  fc.assert(
    fc.property(changes, changes, changes, (first, second, third) => {
      const [texts, model] = [new NamedTexts(), new Map<string, NamedText>()]
      apply(texts, model, first)
      const [copy, copied] = [texts.copy(), new Map(model)]
      apply(texts, model, second)
      apply(copy, copied, third)
      const again = NamedTexts.of(texts)
      const stored = [...texts].map(
        ([name, one]) => [name, one.value, one.createdAtMs, one.updatedAtMs] as const,
      )
      const loaded = NamedTexts.from(stored)
      const before = isSame(loaded, model)
      apply(loaded, new Map(model), third)
      return (
        before && isSame(texts, model) && isSame(copy, copied) && isSame(again, model) && !texts.has('never')
      )
    }),
    { seed, numRuns: 300 },
  )
})

t.test('US-1 counters and accounts by name are what a Map would hold, in its order', async () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(name, fc.nat()), { maxLength: 100 }), sets => {
      const [few, model] = [new SmallMap<number>(), new Map<string, number>()]
      for (const [name, value] of sets) {
        few.set(name, value)
        model.set(name, value)
      }
      return (
        JSON.stringify([...few]) === JSON.stringify([...model]) &&
        JSON.stringify([...SmallMap.of(few).keys()]) === JSON.stringify([...model.keys()]) &&
        JSON.stringify([...few.values()]) === JSON.stringify([...model.values()]) &&
        few.size === model.size &&
        sets.every(([name]) => few.has(name) && few.get(name) === model.get(name)) &&
        few.get('never') === undefined
      )
    }),
    { seed, numRuns: 300 },
  )
})

t.test('the same names in the same order are one list, until the list is long', async t => {
  const names = Array.from({ length: 33 }, (_, i) => `n${i}`)
  t.equal(Names.of(names.slice(0, 32)), Names.of(names.slice(0, 32)))
  t.not(Names.of(names.slice(0, 2)), Names.of(['n1', 'n0']))
  t.equal(Names.of(names.slice(0, 2)).without(1), Names.of(['n0']))
  const [one, other] = [Names.of(names), Names.of(names)]
  t.not(one, other)
  one.with('more')
  t.same([one.place('more'), other.place('more'), one.copy().place('more')], [33, -1, 33])
})

t.test('names without end are forgotten, and who has them keeps them', async t => {
  const held = Array.from({ length: 25_000 }, (_, i) => Names.of([`once ${i}`, 'x']))
  t.ok(held.every((names, i) => names.place(`once ${i}`) === 0 && names.place('x') === 1))
})
