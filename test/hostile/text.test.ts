// Half a surrogate pair is no text: what is named by it would be another after a restart. Refused wherever it names
// anything; in a batch it costs the other events nothing (EV-7).
import t from 'tap'
import { startHere } from '../harness.js'

const half = '\\ud800'

t.test('half a surrogate pair', async t => {
  const { client } = await startHere(t)
  const bodies: readonly (readonly [string, string])[] = [
    ['/companies', `{"keys":{"slug":"${half}"}}`],
    ['/companies', `{"keys":{"slug":"a"},"traits":{"n":"${half}"}}`],
    ['/flags', `{"key":"${half}","name":"n","description":"","flag_type":"boolean","default_value":true}`],
    ['/entity-trait-definitions', `{"entity_type":"user","trait_type":"string","hierarchy":["${half}"]}`],
    ['/events', `{"event_type":"track","body":{"event":"e","company":{"slug":"${half}"}}}`],
    ['/events', `{"event_type":"track","body":{"event":"${half}","company":{"slug":"a"}}}`],
    ['/events', `{"event_type":"identify","body":{"keys":{"${half}":"a"}}}`],
    [
      '/events',
      `{"event_type":"track","idempotency_key":"${half}","body":{"event":"e","company":{"slug":"a"}}}`,
    ],
  ]
  for (const [path, body] of bodies)
    t.match(await client.post(path, body), { status: 400, body: { error: /half a surrogate pair/ } }, body)

  const bad = `{"event_type":"track","body":{"event":"e","company":{"slug":"${half}"}}}`
  const good = '{"event_type":"track","body":{"event":"e","company":{"slug":"\\ud83d\\ude00"}}}'
  t.match(await client.post('/event-batch', `{"events":[${bad},${good}]}`), { status: 201 })
  t.equal(
    (await client.ok('GET', '/companies/count')).count,
    1,
    'the whole pair is a character like any other',
  )
  const events = await client.ok('GET', '/events')
  t.same(events.map((one: { status: string }) => one.status).sort(), ['enriched', 'failed'])
})
