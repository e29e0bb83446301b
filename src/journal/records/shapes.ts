// The shapes of facts and snapshots in their packed form: the members of each object that comes often, in the order in
// which the core makes them. Others are written with their names.
//
// Numbers of shapes lie in journals and snapshots: this list only grows at its end.
import { Shapes } from '../../bytes/packed.js'

const fact = ['k', 'id', 'env', 'at', 'fx'] as const
const told = ['k', 'id', 'env', 'at', 'tell', 'fx'] as const
const entity = [
  ...['id', 'environmentId', 'exists', 'name', 'keys', 'traits', 'createdAtMs', 'updatedAtMs'],
  ...['lastSeenAtMs', 'sequence'],
]
const company = [
  ...[...entity, 'plan', 'addOns', 'trialedPlanIds', 'subscriptions', 'schedule', 'overrides'],
  ...['counters', 'credits', 'idsMade', 'timeMs'],
]
const user = [...entity, 'memberships']
const account = [
  ...[
    'companyId',
    'creditId',
    'sequence',
    'grants',
    'overdraft',
    'overdrawnSinceMs',
    'lease',
    'reservations',
  ],
  ...['closed', 'spent', 'spentForever', 'enrolments'],
]
const accountEnd = ['topup', 'refundSeq', 'external']
const grant = [
  ...['seq', 'reason', 'quantity', 'remaining', 'held', 'createdAtMs', 'validFromMs', 'expiresAtMs'],
  ...['planGrantId', 'licence', 'closed'],
]
const enrolment = [
  ...['planGrantId', 'planId', 'versionId', 'creditAmount', 'companyCreditAmount', 'scaling', 'licences'],
  ...['cadence', 'resetStart', 'rolloverPercentage'],
]
const enrolmentEnd = ['enrolledAtMs', 'anchorMs', 'issuedAtMs', 'nextResetMs']
const holding = ['planId', 'versionId', 'addedAtMs', 'priceId', 'trial']
const subscription = [
  ...['id', 'externalId', 'status', 'periodStartMs', 'periodEndMs', 'intervalMonths', 'cancelAtPeriodEnd'],
  ...['cancelAtMs', 'trialEndMs', 'trialEndSetting', 'productIds'],
]
const draw = ['t', 'c', 'seq', 'at']

/** Numbers of the shapes that writers and readers of bytes name. */
export const shapeOf = {
  fact: 0,
  claimingFact: 1,
  toldFact: 2,
  claimingToldFact: 3,
  used: 4,
  seen: 5,
  /** The first of eight: of draws by events. See `drawShape`. */
  draw: 6,
} as const

/** The shape of a draw by an event: of a feature, by a user, with an uncovered rest. */
export function drawShape(ofFeature: boolean, byUser: boolean, isUncovered: boolean): number {
  return shapeOf.draw + (ofFeature ? 1 : 0) + (byUser ? 2 : 0) + (isUncovered ? 4 : 0)
}

export const shapes = new Shapes([
  [...fact],
  [...fact, 'ik'],
  [...told],
  [...told, 'ik'],
  ['t', 'subtype', 'quantity', 'atMs'],
  ['t', 'atMs'],
  [...draw, 'e', 's'],
  [...draw, 'f', 'e', 's'],
  [...draw, 'e', 'u', 's'],
  [...draw, 'f', 'e', 'u', 's'],
  [...draw, 'e', 's', 'un'],
  [...draw, 'f', 'e', 's', 'un'],
  [...draw, 'e', 'u', 's', 'un'],
  [...draw, 'f', 'e', 'u', 's', 'un'],
  company,
  [...company, 'overdraftLimit'],
  [...company, 'clientTraits'],
  [...company, 'overdraftLimit', 'clientTraits'],
  user,
  [...user, 'clientTraits'],
  [...account, ...accountEnd],
  [...account, 'renewals', ...accountEnd],
  grant,
  ['seq', 'quantity', 'expiresAtMs'],
  ['seq', 'left'],
  ['id', 'kind', 'slices', 'granted', 'tracked', 'createdAtMs', 'updatedAtMs', 'expiresAtMs', 'keys'],
  ['id', 'kind', 'granted', 'tracked', 'createdAtMs', 'expiresAtMs', 'releasedAtMs', 'keys'],
  [...enrolment, ...enrolmentEnd],
  [...enrolment, 'renewal', ...enrolmentEnd],
  ['settings', 'pending', 'failures'],
  holding,
  [...holding, 'subscriptionId'],
  ['endMs', 'endSetting', 'status'],
  subscription,
  [...subscription, 'items'],
  [...subscription, 'items', 'anchorMs'],
  ['productId', 'priceId', 'quantity'],
  ['id', 'entitlement', 'expiresAtMs', 'createdAtMs', 'updatedAtMs'],
  ['t', 'name', 'atMs'],
  ['t', 'name', 'value', 'was'],
  ['t', 'name', 'value'],
  ['t', 'name'],
  ['t', 'trait'],
  ['name', 'hierarchy', 'traitType'],
  ['t', 'name', 'value', 'atMs'],
  ['t'],
  ['t', 'companyId'],
  ['t', 'keys'],
  ['t', 'override'],
  ['t', 'plan'],
  ['t', 'addOns'],
  ['t', 'change'],
  ['t', 'schedule'],
  ['t', 'subscription'],
  ['t', 'c', 'seq', 'at', 'g'],
  ['t', 'c', 'seq', 'at', 'h', 'k', 'open', 's', 'exp', 'f'],
  ['t', 'c', 'seq', 'at', 'h', 'k', 's', 'cost', 'f', 'e'],
  ['t', 'c', 'seq', 'at', 'h', 'k', 'why', 's'],
  ['t', 'c', 'seq', 'at', 'r', 's'],
  ['t', 'c', 'at', 'e'],
  ['t', 'names', 'atMs'],
  [...subscription, 'items', 'cycleAnchorMs'],
])
