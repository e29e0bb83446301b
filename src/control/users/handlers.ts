// Users: upserts and lookups by keys, lists, memberships and traits.
import type { Keys, KeysBody, TraitUpsert } from '../../../schemas/companies.js'
import type { UserDetail, UserUpsert } from '../../../schemas/users.js'
import type { UserMessage } from '../../core/model/message.js'
import { claimedKeys, type Target } from '../../entities/directory/entities.js'
import type { Answered } from '../../entities/shards/shards.js'
import { ServiceError } from '../../errors.js'
import type { Answer, Call, Handler } from '../../kit/call.js'
import { type EntityCall, entityUnknown, isKnown, orRefused, type Refusals } from '../../kit/entities.js'
import type { Exact } from '../../kit/long.js'
import { list, mapOrBare, page, type QueryOf, query, required, string, text } from '../../kit/query.js'
import { shortly, userInShort } from '../entities/minimal.js'
import { userBrief } from '../entities/view.js'
import {
  isRemovable,
  lookedUp,
  namedBy,
  pairsOf,
  type ReadyWrite,
  readyCreate,
  readyTrait,
  readyUpsert,
  replyWhenShown,
  requireKeys,
  shown,
} from '../entities/write.js'
import { userDetails } from './read.js'
import { countUserRows, listUserIds, type UserFilter } from './store.js'

const listShape = { company_id: string, ids: list, plan_id: string, q: text(512), ...page } as const
export const userListQuery = query(listShape)
type UserListQuery = QueryOf<typeof listShape>

const lookupShape = { keys: required(mapOrBare) } as const
export const userLookupQuery = query(lookupShape, 'not_found')

/** Error code and message for each refusal of a user's actor. */
const refusals: Refusals = {
  not_found: ['not_found', 'User not found'],
  no_key_given: ['value_invalid', 'keys: a new user needs at least one'],
  no_key_left: ['state_conflict', 'remove_keys: a user keeps at least one key'],
  trait_not_a_number: ['state_conflict', 'incr: the trait is not a number'],
}

function filterOf({ company_id, ids, plan_id, q }: UserListQuery): UserFilter {
  return { companyId: company_id, ids, planId: plan_id, q }
}

/** GET /users, newest first. source: CU-60; users are read from their actors. */
export const listUsers: Handler<undefined, UserListQuery> = async call => {
  const { services, environment, query, nowMs } = call
  await services.projections.barrier('postgres')
  const catalog = services.catalogs.get(environment.id)
  const ids = await listUserIds(services.sql, catalog, filterOf(query), query, nowMs)
  return { data: await userDetails(call, ids) }
}

/** GET /users/count: the number of users on all pages of the list. */
export const countUsers: Handler<undefined, UserListQuery> = async call => {
  const { services, environment, query, nowMs } = call
  await services.projections.barrier('postgres')
  const catalog = services.catalogs.get(environment.id)
  return { data: { count: await countUserRows(services.sql, catalog, filterOf(query), nowMs) } }
}

/** POST /users. source: CU-10…20 */
export const upsertUser: Handler<UserUpsert> = call => write(call, () => readyUpsert(call, 'user', call.body))

/** POST /users/create: 400 when a key is in use. */
export const createUser: Handler<UserUpsert> = async call => ({
  ...(await write(call, () => readyCreate(call, 'user', call.body))),
  status: 201,
})

/**
 * Write a user and answer its detail. The user is written before its new companies: a refused user leaves no company
 * behind, and memberships of companies that were never created are not shown.
 *
 * ready   finds or reserves the user; the write is sent in the same tick.
 * source  CU-20.
 */
async function write(call: Call<UserUpsert>, ready: () => ReadyWrite): Promise<Answer> {
  const { services, environment, body, nowMs } = call
  const { entities, userSeen } = services
  const wanted = requireMemberships(call)
  const { target, write } = ready()
  const making: Target[] = []
  let notedMs: number | null = null
  try {
    const companyIds = claimCompanies(call, wanted, making)
    const message: UserMessage = {
      type: 'upsert',
      write,
      updateOnly: body.update_only === true,
      preventRemap: false,
      joins: wanted.exhaustive ? [] : companyIds,
      exactly: wanted.exhaustive ? companyIds : null,
      ...(call.minimal === true && shortly),
    }
    // an explicit time replaces times noted before (CU-46)
    if (write.lastSeenAtMs !== null) notedMs = userSeen.drop(target.id)
    if (entities.isShared)
      await entities.secure([target, ...making]).catch(error => {
        making.length = 0
        throw error
      })
    const asked = entities.ask(target, message, nowMs)
    const written = await orRefused(asked, refusals)
    const made = await Promise.all(making.splice(0).map(company => makeCompany(call, company)))
    await shown(call, [written, ...made])
    if (call.minimal === true) return userInShort(call, written.reply)
  } catch (error) {
    for (const company of making) entities.release(company)
    if (notedMs !== null) userSeen.note(target.id, environment.id, notedMs)
    throw error
  }
  return { data: await oneUser(call, target.id) }
}

/** A company that the user is to be a member of, by id or by keys. */
type WantedCompany = { readonly id: string } | { readonly keys: Keys }

interface WantedMemberships {
  readonly companies: readonly WantedCompany[]
  /** Remove the user from every other company. */
  readonly exhaustive: boolean
}

/**
 * The memberships in a body. Each company is checked before any change.
 *
 * errors  404 for an unknown id; 400 for keys that match two companies, or empty keys.
 * source  CU-20.
 */
function requireMemberships(call: Call<UserUpsert>): WantedMemberships {
  const { company, company_id, companies, company_ids } = call.body
  const added: WantedCompany[] = []
  if (company != null) added.push({ keys: company })
  if (company_id != null) added.push({ id: company_id })
  const exhaustive = added.length === 0 && (companies != null || company_ids != null)
  const listed: WantedCompany[] = [
    ...(companies ?? []).map(keys => ({ keys })),
    ...(company_ids ?? []).map(id => ({ id })),
  ]
  const wanted = exhaustive ? listed : added
  for (const one of wanted)
    if ('keys' in one) {
      requireKeys(one.keys, 'company')
      const found = namedBy(call, 'company', one.keys)
      if (found === null && Object.keys(one.keys).length === 0)
        throw new ServiceError('value_invalid', 'company: no keys given')
    } else if (!isKnown(call, 'company', one.id)) throw entityUnknown('company')
  return { companies: wanted, exhaustive }
}

/** Ids of the wanted companies, in their order. New ones are claimed and added to `making`. */
function claimCompanies(
  call: Call<UserUpsert>,
  { companies }: WantedMemberships,
  making: Target[],
): string[] {
  const { entities, directory } = call.services
  return companies.map(one => {
    if ('id' in one) return one.id
    const found = namedBy(call, 'company', one.keys)
    // if another request is still creating it, this one creates it too, in case the other fails
    if (found !== null && !directory.isUnconfirmed(found)) return found
    const keys = pairsOf('company', one.keys)
    const target = entities.target('company', call.environment.id, found, keys)
    making.push(target)
    return target.id
  })
}

function makeCompany(call: EntityCall, target: Target): Promise<Answered<unknown>> {
  const { entities } = call.services
  const write = entities.write('company', call.environment.id, { keys: claimedKeys(target) }, call.nowMs)
  return entities.ask(target, { type: 'ensure', write }, call.nowMs)
}

/** POST /user-traits. source: CU-36 */
export const upsertUserTrait: Handler<Exact<TraitUpsert>> = async call => {
  const { target, message } = readyTrait(call, 'user', call.body, (write, updateOnly) => ({
    type: 'upsert',
    write,
    updateOnly,
    preventRemap: false,
    joins: [],
    exactly: null,
  }))
  const asked = call.minimal === true ? { ...message, ...shortly } : message
  const reply = await replyWhenShown(
    call,
    call.services.entities.ask(target, asked as UserMessage, call.nowMs),
    refusals,
  )
  return call.minimal === true ? userInShort(call, reply) : { data: await oneUser(call, target.id) }
}

/** GET /users/lookup. source: CU-3, decision 15 */
export const lookupUser: Handler<undefined, QueryOf<typeof lookupShape>> = async call => ({
  data: await oneUser(call, lookedUp(call, 'user', call.query.keys)),
})

/** GET /users/{user_id}. */
export const getUser: Handler = async call => {
  const id = call.params.user_id!
  if (!isKnown(call, 'user', id)) throw entityUnknown('user')
  return { data: await oneUser(call, id) }
}

/** DELETE /users/{user_id}. source: CU-52, AL-34 */
export const deleteUser: Handler = async call => {
  const id = call.params.user_id!
  if (!isRemovable(call, 'user', id)) throw entityUnknown('user')
  await replyWhenShown(call, remove(call, id), refusals)
  return { data: { deleted: true } }
}

/** POST /users/delete: answers the user as it was before. source: CU-51, decision 15 */
export const deleteUserByKeys: Handler<KeysBody> = async (call): Promise<Answer> => {
  const { services, environment, body } = call
  const id = services.entities.removable('user', environment.id, body.keys)
  if (id === null) throw entityUnknown('user')
  const seenAtMs = services.userSeen.of(id)
  const { was } = await replyWhenShown(call, remove(call, id), refusals)
  if (was === null) throw entityUnknown('user')
  return { data: userBrief(was, seenAtMs) }
}

function remove({ services, environment, nowMs }: EntityCall, id: string) {
  services.userSeen.drop(id)
  return services.entities.remove('user', environment.id, id, nowMs)
}

/** One user. Throws 404 if it is deleted. */
async function oneUser(call: EntityCall, id: string): Promise<UserDetail> {
  const [user] = await userDetails(call, [id])
  if (!user) throw entityUnknown('user')
  return user
}
