// Full views of users, read from their actors.
import type { UserDetail } from '../../../schemas/users.js'
import type { UserSnapshot } from '../../core/model/descriptions.js'
import type { EntityPlace } from '../../kit/entities.js'
import { askForPage, textBytes } from '../../kit/page-weight.js'
import { companyBriefs } from '../entities/read.js'
import { definitionsOf } from '../entities/view.js'
import { userDetail } from './view.js'

/** Users in full, in the order of the ids; deleted ones are left out. Errors as `askForPage`. */
export async function userDetails(call: EntityPlace, ids: readonly string[]): Promise<UserDetail[]> {
  const { services, environment, nowMs } = call
  const answers = await askForPage(
    call,
    ids,
    async id => {
      // read before asking: a time noted now may be sent to the actor and dropped here before the reply comes
      const seenAtMs = services.userSeen.of(id)
      const { reply } = await services.shards.ask<UserSnapshot | null>(
        'u',
        environment.id,
        id,
        { type: 'describe' },
        nowMs,
      )
      return reply && { state: reply, seenAtMs }
    },
    user => (user === null ? 0 : textBytes(user.state.keys) + textBytes(user.state.traits)),
  )
  const users = answers.filter(user => user !== null)
  return userDetailsOf(call, users)
}

/** Users in full, from states already read. */
export async function userDetailsOf(
  call: EntityPlace,
  users: readonly { readonly state: UserSnapshot; readonly seenAtMs: number | null }[],
): Promise<UserDetail[]> {
  const { services, environment } = call
  const states = users.map(({ state }) => state)
  const memberOf = states.flatMap(({ memberships }) => memberships.map(([companyId]) => companyId))
  const known = memberOf.filter(companyId => services.directory.has(environment.id, companyId))
  const [definitions, companies] = await Promise.all([
    definitionsOf(services, services.catalogs.get(environment.id), 'user', states),
    companyBriefs(call, known),
  ])
  const surroundings = { registry: services.traits, definitions, companies }
  return users.map(({ state, seenAtMs }) => userDetail(state, seenAtMs, surroundings))
}
