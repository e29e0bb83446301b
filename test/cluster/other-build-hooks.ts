// Changes the service's modules as they are loaded, so that it acts as another build: `OTHER_BUILD_LINK=1` raises the version that
// nodes speak, `OTHER_BUILD_OLDEST=1` the oldest that they work beside, `OTHER_BUILD_SQL=DIRECTORY` names its migrations.
import type { LoadHook } from 'node:module'

const { OTHER_BUILD_LINK: link, OTHER_BUILD_OLDEST: oldest, OTHER_BUILD_SQL: sql } = process.env

export const load: LoadHook = async (url, context, next) => {
  const loaded = await next(url, context)
  if (!url.includes('/dist/') || loaded.source === undefined || loaded.source === null) return loaded
  let source = Buffer.from(loaded.source as Uint8Array).toString()
  if (link !== undefined) source = raised(source, 'linkVersion', link)
  if (oldest !== undefined) source = raised(source, 'oldestVersion', oldest)
  if (sql !== undefined)
    source = source.replace(/\bsqlDirectory = fileURLToPath\([^;]*/, `sqlDirectory = ${JSON.stringify(sql)}`)
  return { ...loaded, source }
}

/** The source with one of its numbers raised. */
const raised = (source: string, name: string, by: string): string =>
  source.replace(new RegExp(`\\b${name} = (\\d+)`), (_, number) => `${name} = ${Number(number) + Number(by)}`)
