// A service without its front: real Postgres, keys, clock, traits and catalogs; handlers are called with a Call.
import type { Test } from 'tap'
import { type Definitions, openDefinitions } from '../../src/account/definitions.js'
import type { CatalogData } from '../../src/core/model/definitions.js'
import { Directory } from '../../src/entities/directory/directory.js'
import { CheckedFlags } from '../../src/entities/directory/last-seen.js'
import { ServiceError } from '../../src/errors.js'
import {
  type Answer,
  type Call,
  Deferred,
  type EnvironmentRecord,
  type Handler,
  type KeyRecord,
} from '../../src/kit/call.js'
import type { Services } from '../../src/kit/services.js'
import { SharedReads } from '../../src/kit/shared-reads.js'
import { type Stores, silent, startStores } from '../stores.js'

/** A call as a test thinks of it. */
export interface Asked {
  readonly body?: object
  readonly query?: object
  readonly params?: Readonly<Record<string, string>>
  /** Defaults to the house's. */
  readonly services?: Services
  /** Defaults to an account-wide admin key. */
  readonly key?: KeyRecord
  /** Defaults to Development; null: at the level of the account. */
  readonly environment?: EnvironmentRecord | null
}

/** A handler of any operation: what it is given is the test's to get right. */
type AnyHandler = Handler<never, never>

export interface House {
  readonly stores: Stores
  readonly definitions: Definitions
  readonly services: Services
  readonly accountId: string
  readonly development: EnvironmentRecord
  readonly production: EnvironmentRecord
  /** An account-wide key with every scope. */
  readonly admin: KeyRecord
  /** Questions to actors: there are none, every request is answered. */
  readonly asked: (readonly unknown[])[]
  /** Messages to the shards, oldest first. */
  readonly announced: CatalogData[]
  ask(handler: AnyHandler, asked?: Asked): Promise<Answer>
  /** The `data` of an answer, to be looked at member by member. */
  data<T>(handler: AnyHandler, asked?: Asked): Promise<T>
  /** The failure a call ends in, as status and message. */
  fails(handler: AnyHandler, asked?: Asked): Promise<{ readonly status: number; readonly error: string }>
}

export async function openHouse(t: Test): Promise<House> {
  const stores = await startStores(t)
  const announced: CatalogData[] = []
  const definitions = await openDefinitions({
    sql: stores.sql,
    log: silent,
    config: { dataDir: stores.dataDir, bootstrapKey: null, pepper: null, membersFile: null },
    announce: async data => void announced.push(data),
  })
  await definitions.catalogs.start()
  t.teardown(() => definitions.close())
  const { keys, clock, traits, catalogs, bootstrapped } = definitions
  // Services that handlers of definitions do not use are absent.
  const directory = new Directory()
  const checkedFlags = new CheckedFlags()
  const asked: House['asked'] = []
  const services = {
    log: silent,
    sql: stores.sql,
    clickhouse: stores.clickhouse,
    keys,
    clock,
    catalogs,
    traits,
    directory,
    checkedFlags,
    reads: new SharedReads(),
    shards: { ask: async (...one: readonly unknown[]) => void asked.push(one) },
    projections: { barrier: async () => {} },
    webhooks: { receivers: () => [] },
  } as unknown as Services
  const { accountId } = bootstrapped
  const [development, production] = keys.environments(accountId)
  const admin: KeyRecord = {
    id: 'apik_admin',
    accountId,
    name: 'admin',
    description: null,
    kind: 'secret',
    scopes: ['admin', 'capture', 'read', 'write'],
    readonly: false,
    environmentId: null,
    rateLimitPercent: null,
  }

  async function ask(handler: AnyHandler, given: Asked = {}): Promise<Answer> {
    const environment = given.environment === undefined ? development! : given.environment
    const call = {
      services: given.services ?? services,
      key: given.key ?? admin,
      get environment() {
        if (!environment) throw new ServiceError('environment_required')
        return environment
      },
      environmentOrNull: environment,
      params: given.params ?? {},
      query: { limit: 100, offset: 0, ...given.query },
      body: given.body,
      nowMs: environment ? clock.now(environment.id) : clock.wall(),
      remoteIp: '127.0.0.1',
      userAgent: 'test',
    } as unknown as Call<never, never>
    const answer = handler(call)
    if (!(answer instanceof Deferred)) return answer
    return new Promise((succeed, fail) => answer.listen({ succeed, fail }))
  }

  return {
    stores,
    definitions,
    services,
    accountId,
    development: development!,
    production: production!,
    admin,
    announced,
    asked,
    ask,
    async data<T>(handler: AnyHandler, asked?: Asked): Promise<T> {
      return (await ask(handler, asked)).data as T
    },
    async fails(handler, asked) {
      try {
        await ask(handler, asked)
      } catch (error) {
        if (error instanceof ServiceError) return { status: error.status, error: error.message }
        throw error
      }
      throw new Error('the call succeeded')
    },
  }
}

/** Times and ids that a comparison of whole bodies cannot know. */
export const isoPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
