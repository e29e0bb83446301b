// The ring of long replies: whatever is written and not yet released reads as it was written, and what has no room is
// refused whole.
import t from 'tap'
import { type Place, ReplyRing } from '../../src/protocol/reply-ring.js'
import { Random } from '../random.js'

t.test('replies in the ring read as they were written until they are released, over many rounds', async t => {
  const random = new Random()
  t.comment(`TOLLGATE_SEED=${random.seed}`)
  const memory = ReplyRing.make()
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
      http.release(place)
    }
  }
  t.ok(written > 1_000 && refused > 50, `${written} written, ${refused} refused`)
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
