// The operations made for the console and for a company's own page, part of operations.ts.
import type {
  DeniedChecks,
  DraftDiff,
  ExplainBody,
  FlagChecks,
  FlagExplanation,
  SearchResult,
  SystemStatus,
  TopCompany,
  UsageByDay,
} from './console.js'
import type { Count, Deleted } from './envelope.js'
import type {
  AccountMember,
  AccountMemberCreate,
  AccountMemberUpdate,
  ConsoleLinkCreate,
  InvitedMember,
  SignInLink,
} from './members.js'
import type { Portal, TemporaryAccessToken, TemporaryAccessTokenCreate } from './portal.js'

export interface ConsoleOperations {
  /** Adds a member with roles in the console. The link in `invitation` signs them in once, within seven days. */
  'POST /account-members': { id: 'createAccountMember'; body: AccountMemberCreate; data: InvitedMember }
  'PUT /account-members/{account_member_id}': {
    id: 'updateAccountMember'
    body: AccountMemberUpdate
    data: AccountMember
  }
  'DELETE /account-members/{account_member_id}': { id: 'deleteAccountMember'; data: Deleted }
  /** Another link that signs the member in once, within seven days. */
  'POST /account-members/{account_member_id}/sign-in-link': { id: 'createSignInLink'; data: SignInLink }
  /** A link that signs the operator in to the console as an admin, once, within 15 minutes. */
  'POST /console-links': { id: 'createConsoleLink'; body: ConsoleLinkCreate; data: SignInLink }
  /**
   * Checks that answered false, summed by `by`: flag, reason, company, minute. The last 24 hours unless a window is named.
   */
  'GET /denied-checks': { id: 'listDeniedChecks'; data: DeniedChecks[] }
  /** The number of events that match, at most 100,000, which then means that many or more. */
  'GET /events/count': { id: 'countEvents'; data: Count }
  /** Checks of each flag and how many of them answered false; `by=reason` tells them by reason. The last 24 hours unless a window is named. */
  'GET /flag-checks': { id: 'listFlagChecks'; data: FlagChecks[] }
  /**
   * Why a flag has its value for a company and user, now or `at` a past instant: every rule in the order it is tried, each
   * condition with the value it saw, and the smallest change that would change the result. Nothing is counted.
   */
  'POST /flags/{key}/explain': { id: 'explainFlag'; body: ExplainBody; data: FlagExplanation }
  /** Why each flag has its value for a company, now or `at` a past instant. `flag_key` names one flag. */
  'GET /companies/{company_id}/explain': { id: 'explainCompany'; data: FlagExplanation[] }
  /** The changes that publishing the draft of a plan would make. */
  'GET /plans/{plan_id}/draft-diff': { id: 'getPlanDraftDiff'; data: DraftDiff }
  /** Companies, users and definitions with this text in their names, keys or ids, or one like it. */
  'GET /search': { id: 'search'; data: SearchResult[] }
  /** Health, stores and their lag, journal, shards, fronts, nodes and quotas. */
  'GET /system': { id: 'getSystem'; data: SystemStatus }
  /** The companies that used a feature most, in the last 30 days unless a window is named. */
  'GET /top-companies': { id: 'listTopCompanies'; data: TopCompany[] }
  /** Use of each feature that events count, over all companies, by UTC day. */
  'GET /usage-by-day': { id: 'getUsageByDay'; data: UsageByDay[] }
  /** The data that a company's own page may show: plan, use against limits, credits. A token of the company reads nothing else. */
  'GET /portal': { id: 'getPortal'; data: Portal }
  /** A token that reads the portal of one company for a short time: a server makes it, a page of the company uses it. */
  'POST /temporary-access-tokens': {
    id: 'createTemporaryAccessToken'
    body: TemporaryAccessTokenCreate
    data: TemporaryAccessToken
  }
}
