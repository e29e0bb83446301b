// A program with Tollgate inside, for the compiler: it need only compile. Used by package.test.ts.
import { type RunningTollgate, type Settings, start } from 'tollgate'

export async function sample(dataDir: string): Promise<number> {
  const settings: Settings = {
    TOLLGATE_DATA_DIR: dataDir,
    TOLLGATE_PORT: 0,
    TOLLGATE_SHARDS: '2',
    TOLLGATE_HTTP: 'node',
    TOLLGATE_TRUST_PROXY: false,
    DATABASE_URL: process.env.DATABASE_URL,
  }
  const tollgate: RunningTollgate = await start(settings)
  const { status } = await fetch(`${tollgate.url}/companies`, {
    headers: { 'X-Service-Api-Key': tollgate.bootstrapKey ?? '' },
  })
  await tollgate.stop()
  return status
}

export async function mistakes(): Promise<void> {
  // @ts-expect-error a setting that there is not
  await start({ TOLLGATE_PROT: 1 })
  // @ts-expect-error no such HTTP server
  await start({ TOLLGATE_HTTP: 'native' })
  // @ts-expect-error a list is no text
  await start({ TOLLGATE_HOST: ['127.0.0.1'] })
}
