// The client of the commands: how long it waits before it asks again.
import t from 'tap'
import { Client } from '../../src/cli/client.js'

t.test('security 45 an answer is asked again after the time that it names, as a date too', async t => {
  const date = 'Sat, 28 Nov 2026 12:00:00 GMT'
  const asked: number[] = []
  const given = globalThis.fetch
  t.teardown(() => {
    globalThis.fetch = given
  })
  globalThis.fetch = async () => {
    asked.push(Date.now())
    if (asked.length > 1) return new Response('{"data":1}')
    return new Response('', {
      status: 503,
      headers: { date, 'retry-after': 'Sat, 28 Nov 2026 12:00:02 GMT' },
    })
  }
  const client = new Client({ url: 'http://tollgate.invalid', key: 'sk_none' })
  t.equal(await client.ask('GET', '/whoami'), 1)
  // a timer may be a little early by the clock
  t.ok(asked[1]! - asked[0]! >= 1_900, 'two seconds by the clock of who answered')
})
