// The figures of /metrics, in the text format and as JSON.
import t from 'tap'
import { createMetrics } from '../src/metrics.js'

t.test('a child counts in place, and shows once it has counted', async t => {
  const metrics = createMetrics()
  metrics.events.accepted.count += 3
  metrics.journal.fsyncSeconds.child({ shard: '0' }).observe(0.000_2)
  metrics.actors.count.set({ shard: '1' }, 7)
  const text = await metrics.registry.metrics()
  t.match(text, 'tollgate_events_total{outcome="accepted"} 3')
  t.notMatch(text, 'outcome="failed"')
  t.match(text, 'tollgate_journal_fsync_seconds_bucket{shard="0",le="0.0001"} 0')
  t.match(text, 'tollgate_journal_fsync_seconds_bucket{shard="0",le="0.00025"} 1')
  t.match(text, 'tollgate_journal_fsync_seconds_bucket{shard="0",le="1"} 1')
  t.match(text, 'tollgate_journal_fsync_seconds_bucket{shard="0",le="+Inf"} 1')
  t.match(text, 'tollgate_journal_fsync_seconds_sum{shard="0"} 0.0002')
  t.match(text, 'tollgate_actors{shard="1"} 7')
  t.match(text, 'process_cpu_seconds_total')
  const json = await metrics.registry.getMetricsAsJSON()
  t.ok(json.some(family => family.name === 'tollgate_journal_fsync_seconds'))
})

t.test('a value beyond the last bound counts in +Inf alone', async t => {
  const metrics = createMetrics()
  metrics.journal.fsyncSeconds.child({ shard: '0' }).observe(60)
  const text = await metrics.registry.metrics()
  t.match(text, 'le="1"} 0')
  t.match(text, 'le="+Inf"} 1')
})
