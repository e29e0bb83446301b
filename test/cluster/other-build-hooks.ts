// Changes the version that nodes speak in the service's modules as they are loaded.
import type { LoadHook } from 'node:module'

export const load: LoadHook = async (url, context, next) => {
  const loaded = await next(url, context)
  if (!url.includes('/dist/') || loaded.source === undefined || loaded.source === null) return loaded
  const text = Buffer.from(loaded.source as Uint8Array).toString()
  const source = text.replace(/\blinkVersion = (\d+)/, (_, version) => `linkVersion = ${Number(version) + 1}`)
  return { ...loaded, source }
}
