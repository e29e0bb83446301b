// A body in pieces is what was sent, in one memory, however small its pieces are.
import t from 'tap'
import { GatheredBody } from '../../../../src/front/http/request/gathered-body.js'
import { Random } from '../../../random.js'

t.test(
  'security H1 pieces of any sizes make the body, in one memory that is at most twice as large',
  async t => {
    const random = new Random()
    t.comment(`TOLLGATE_SEED=${random.seed}`)
    for (let round = 0; round < 300; round++) {
      const bytes = Buffer.from(Array.from({ length: random.below(3_000) }, () => random.below(256)))
      const announced = [bytes.length, 0, Number.NaN, random.below(3_000)][random.below(4)]!
      const body = new GatheredBody(announced)
      for (let at = 0; at < bytes.length; ) {
        const piece = bytes.subarray(at, at + 1 + random.below(random.chance(0.5) ? 2 : 900))
        body.add(new Uint8Array(piece).buffer as ArrayBuffer)
        at += piece.length
        const { bytes: held } = body as unknown as { readonly bytes: Buffer }
        if (held.length > 2 * at && held.length > 2_000) t.fail(`${held.length} bytes for ${at}`)
      }
      const whole = body.whole()
      if (!whole.equals(bytes)) t.fail(`${bytes.length} bytes`)
      if (whole.buffer.byteLength !== whole.length) t.fail('it has memory of its own')
    }
  },
)
