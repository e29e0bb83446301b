// The ring of long replies: whatever is written and not yet released reads as it was written, and what has no room is
// refused whole.
import t from 'tap'
import { type Place, ReplyRing } from '../../src/wire/reply-ring.js'
import { Random } from '../random.js'

t.test('replies in the ring read as they were written until they are released, over many rounds', async t => {
  const random = new Random()
  t.comment(`TOLLGATE_SEED=${random.seed}`)
  const memory = ReplyRing.make(8)
  const [shard, http] = [new ReplyRing(memory), new ReplyRing(memory)]
  const sent: { readonly text: string; readonly place: Place }[] = []
  let [written, refused, bytes] = [0, 0, 0]
  for (let step = 0; step < 6_000; step++) {
    const isBurst = step % 1_000 < 300
    if (sent.length === 0 || random.chance(isBurst ? 0.95 : 0.4)) {
      const text = random.pick(['a', 'é', '東', '😀', 'a東']).repeat(random.below(15_000)) + step
      const place = shard.write(text)
      if (place === null) refused++
      else {
        written++
        bytes += place.length
        sent.push({ text, place: { ...place } })
      }
    } else {
      const { text, place } = sent.shift()!
      if (Buffer.from(http.view(place)).toString() !== text) return t.fail(`step ${step} reads otherwise`)
      http.release()
    }
  }
  t.ok(written > 1_000 && refused > 50, `${written} written, ${refused} refused`)
  t.ok(bytes > 10 << 22, 'it came round many times')
})

t.test('a reply that is still there reads as it was written each time it is sent again', async t => {
  const random = new Random()
  t.comment(`TOLLGATE_SEED=${random.seed}`)
  const memory = ReplyRing.make(8)
  const [shard, http] = [new ReplyRing(memory), new ReplyRing(memory)]
  // positions begin anew soon
  for (const ring of Reflect.get(shard, 'rings'))
    Object.assign(ring, { next: 2 ** 32 - 30_000_000, entered: (2 ** 32 - 30_000_000) >>> 18 })
  const kept: { readonly text: string; readonly place: Place }[] = []
  const sent: (typeof kept)[number][] = []
  let [again, gone, refused, bytes] = [0, 0, 0, 0]
  const hear = (): boolean => {
    const { text, place } = sent.shift()!
    const same = Buffer.from(http.view(place)).toString() === text
    http.release()
    return same
  }
  for (let step = 0; step < 20_000; step++) {
    const isSlow = step % 2_000 < 600
    if (random.chance(0.5) && kept.length > 0) {
      const one = random.chance(0.5)
        ? kept.at(-1 - random.below(Math.min(kept.length, 20)))!
        : random.pick(kept)
      if (shard.isThere(one.place)) {
        shard.again(one.place)
        sent.push(one)
        again++
      } else {
        kept.splice(kept.indexOf(one), 1)
        gone++
      }
    } else {
      const text = random.pick(['a', 'é', '東']).repeat(random.below(15_000)) + step
      const place = shard.write(text, random.chance(0.5))
      if (place === null) refused++
      else {
        bytes += place.length
        kept.push({ text, place: { ...place } })
        sent.push(kept.at(-1)!)
      }
    }
    while (sent.length > 0 && random.chance(isSlow ? 0.3 : 0.7))
      if (!hear()) return t.fail(`step ${step} reads otherwise`)
  }
  while (sent.length > 0) if (!hear()) return t.fail('the rest reads otherwise')
  t.ok(again > 1_000 && gone > 500 && refused > 50, `${again} again, ${gone} gone, ${refused} refused`)
  t.ok(bytes > 10 * memory.byteLength, 'it came round many times')
})

t.test('a reply that is longer than a socket takes at once is refused', async t => {
  const memory = ReplyRing.make()
  const [shard, http] = [new ReplyRing(memory), new ReplyRing(memory)]
  for (const character of ['a', 'é', '東', '😀']) {
    const most = Math.floor(65_536 / Buffer.byteLength(character))
    t.equal(shard.write(character.repeat(most + 1)), null)
    const place = shard.write(character.repeat(most - 4))
    t.equal(place === null ? '' : Buffer.from(http.view(place)).toString(), character.repeat(most - 4))
  }
  t.equal(shard.write('')?.length, 0)
})
