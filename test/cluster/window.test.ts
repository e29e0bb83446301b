// Each shard of a cluster claims its idempotency keys in Redis (EV-25). The window of the HTTP thread holds none.
import t from 'tap'
import { newId } from '../../src/account/ids.js'
import { SharedWindow } from '../../src/cluster/window.js'
import { type Dedupe, packClaim } from '../../src/entities/idempotency/dedupe.js'

t.test('keys that a node reads at its start fill no window, so it does not count as degraded', async t => {
  const window: Dedupe = new SharedWindow()
  window.reserve(20)
  const claim = { eventId: newId('evt_'), capturedAtMs: 1_000, receivedAtMs: 2_000 }
  for (let number = 0; number < 20; number++) {
    window.load('env_1', `loaded ${number}`, claim.eventId, claim.capturedAtMs, claim.receivedAtMs)
    window.loadWords('env_1', `words ${number}`, number, number, claim.capturedAtMs, claim.receivedAtMs)
    window.loadPacked(packClaim('env_1', `packed ${number}`, claim))
  }
  t.equal(window.size, 0)
  t.same(window.full(), [])
  t.equal(window.isFull('env_1', 'key 1'), false)
})
