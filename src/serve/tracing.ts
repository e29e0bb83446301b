// Parts that are replaced when tracing is on; loaded only then.
import type { ProjectedChunk } from '../wire/projector-messages.js'
import type { Opening } from './opening.js'

export type Traced = Awaited<ReturnType<typeof traceEverything>>

/** url: where spans are sent. */
export async function traceEverything(url: string, { log, opened }: Opening) {
  const [{ Tracing }, { tracedShards }, { tracedStages }] = await Promise.all([
    import('../tracing.js'),
    import('../entities/shards/traced-shards.js'),
    import('../front/http/request/traced.js'),
  ])
  const tracing = await Tracing.open(url, log)
  opened.add(() => tracing.close())
  const chunk = ({ store, shard, records, failed, fromMs, toMs }: ProjectedChunk) => {
    const attributes = { 'tollgate.shard': shard, 'tollgate.records': records }
    tracing.alone({ name: `project to ${store}`, fromMs, toMs, attributes, failed })
  }
  return { Shards: tracedShards(tracing), stages: tracedStages(tracing), chunk }
}
