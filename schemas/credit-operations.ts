// The operations on credits, part of operations.ts.
import type { CheckAndReserveFlag, CheckAndReserveRequestBody } from './checks.js'
import type {
  CompanyCreditBalanceRecord,
  CompanyGrantCreate,
  Credit,
  CreditBundle,
  CreditBundleCreateRequestBody,
  CreditBundleUpdate,
  CreditCreateRequestBody,
  CreditDay,
  CreditGrant,
  CreditLease,
  CreditLedgerEntry,
  CreditReservation,
  CreditSpendPolicy,
  CreditsReserve,
  CreditUpdate,
  GrantZeroOut,
  LeaseAcquire,
  LeaseExtend,
  PlanCreditGrant,
  PlanGrantCreate,
  PlanGrantUpdate,
  SpendPolicyCreate,
  SpendPolicyUpdate,
} from './credits.js'
import type { Count, Deleted } from './envelope.js'

export interface CreditOperations {
  'GET /billing/credits': { id: 'listBillingCredits'; data: Credit[] }
  'POST /billing/credits': { id: 'createBillingCredit'; body: CreditCreateRequestBody; data: Credit }
  /** A company's balance of every credit: remaining, in open holds, and their sum. */
  'GET /billing/credits/balance': { id: 'listCompanyCreditBalances'; data: CompanyCreditBalanceRecord[] }
  'GET /billing/credits/bundles': { id: 'listCreditBundles'; data: CreditBundle[] }
  'POST /billing/credits/bundles': {
    id: 'createCreditBundle'
    body: CreditBundleCreateRequestBody
    data: CreditBundle
  }
  /** Credits of one kind that a company consumed on each of the last days of UTC, and had left at their ends. */
  'GET /credits-by-day': { id: 'listCreditDays'; data: CreditDay[] }
  'GET /billing/credits/bundles/count': { id: 'countCreditBundles'; data: Count }
  'GET /billing/credits/bundles/{bundle_id}': { id: 'getCreditBundle'; data: CreditBundle }
  'PUT /billing/credits/bundles/{bundle_id}': {
    id: 'updateCreditBundleDetails'
    body: CreditBundleUpdate
    data: CreditBundle
  }
  'DELETE /billing/credits/bundles/{bundle_id}': { id: 'deleteCreditBundle'; data: Deleted }
  'GET /billing/credits/count': { id: 'countBillingCredits'; data: Count }
  /** Grant credits, or sell a bundle of them. */
  'POST /billing/credits/grants/company': {
    id: 'grantBillingCreditsToCompany'
    body: CompanyGrantCreate
    data: CreditGrant
  }
  'GET /billing/credits/grants/company/count': { id: 'countCompanyGrants'; data: Count }
  'GET /billing/credits/grants/company/list': { id: 'listCompanyGrants'; data: CreditGrant[] }
  'GET /billing/credits/grants/count': { id: 'countBillingCreditsGrants'; data: Count }
  'GET /billing/credits/grants/list': { id: 'listGrantsForCredit'; data: CreditGrant[] }
  'PUT /billing/credits/grants/{grant_id}/zero-out': {
    id: 'zeroOutGrant'
    body: GrantZeroOut
    data: CreditGrant
  }
  /** Open and ended leases, newest first. */
  'GET /billing/credits/lease': { id: 'listCreditLeases'; data: CreditLease[] }
  /** Hold credits for many uses. If the company has an open lease, that one is returned. */
  'POST /billing/credits/lease': { id: 'acquireCreditLease'; body: LeaseAcquire; data: CreditLease }
  'GET /billing/credits/lease/count': { id: 'countCreditLeases'; data: Count }
  'GET /billing/credits/lease/{lease_id}': { id: 'getCreditLease'; data: CreditLease }
  'PUT /billing/credits/lease/{lease_id}/extend': {
    id: 'extendCreditLease'
    body: LeaseExtend
    data: CreditLease
  }
  'PUT /billing/credits/lease/{lease_id}/release': { id: 'releaseCreditLease'; data: CreditLease }
  /** Every movement of every grant, latest first; movements are not netted. */
  'GET /billing/credits/ledger': { id: 'getCreditLedger'; data: CreditLedgerEntry[] }
  'GET /billing/credits/plan-grants': { id: 'listBillingPlanCreditGrants'; data: PlanCreditGrant[] }
  'POST /billing/credits/plan-grants': {
    id: 'createBillingPlanCreditGrant'
    body: PlanGrantCreate
    data: PlanCreditGrant
  }
  'GET /billing/credits/plan-grants/count': { id: 'countBillingPlanCreditGrants'; data: Count }
  'GET /billing/credits/plan-grants/{plan_grant_id}': {
    id: 'getSingleBillingPlanCreditGrant'
    data: PlanCreditGrant
  }
  'PUT /billing/credits/plan-grants/{plan_grant_id}': {
    id: 'updateBillingPlanCreditGrant'
    body: PlanGrantUpdate
    data: PlanCreditGrant
  }
  'DELETE /billing/credits/plan-grants/{plan_grant_id}': { id: 'deleteBillingPlanCreditGrant'; data: Deleted }
  /** Open and ended reservations, newest first. */
  'GET /billing/credits/reservations': { id: 'listCreditReservations'; data: CreditReservation[] }
  /** Hold credits for one use: the whole amount or nothing. The event that names the reservation settles it. */
  'POST /billing/credits/reservations': {
    id: 'reserveCredits'
    body: CreditsReserve
    data: CreditReservation
  }
  'GET /billing/credits/reservations/count': { id: 'countCreditReservations'; data: Count }
  'GET /billing/credits/reservations/{reservation_id}': {
    id: 'getCreditReservation'
    data: CreditReservation
  }
  'PUT /billing/credits/reservations/{reservation_id}/release': {
    id: 'releaseCreditReservation'
    data: CreditReservation
  }
  'GET /billing/credits/spend-policies': { id: 'listCreditSpendPolicies'; data: CreditSpendPolicy[] }
  /**
   * The largest single draw of a company or of one of its users. Above it, a check with a preflight is false, a
   * lease or reservation is refused with 402, and an event is stored as failed.
   */
  'POST /billing/credits/spend-policies': {
    id: 'createCreditSpendPolicy'
    body: SpendPolicyCreate
    data: CreditSpendPolicy
  }
  'GET /billing/credits/spend-policies/count': { id: 'countCreditSpendPolicies'; data: Count }
  'GET /billing/credits/spend-policies/{spend_policy_id}': {
    id: 'getCreditSpendPolicy'
    data: CreditSpendPolicy
  }
  'PUT /billing/credits/spend-policies/{spend_policy_id}': {
    id: 'updateCreditSpendPolicy'
    body: SpendPolicyUpdate
    data: CreditSpendPolicy
  }
  'DELETE /billing/credits/spend-policies/{spend_policy_id}': { id: 'deleteCreditSpendPolicy'; data: Deleted }
  'GET /billing/credits/{credit_id}': { id: 'getSingleBillingCredit'; data: Credit }
  'PUT /billing/credits/{credit_id}': { id: 'updateBillingCredit'; body: CreditUpdate; data: Credit }
  'DELETE /billing/credits/{credit_id}': { id: 'softDeleteBillingCredit'; data: Deleted }
  /** Check a flag and, if the use costs credits, hold them in the same step. */
  'POST /flags/{key}/check-and-reserve': {
    id: 'checkAndReserveFlag'
    body: CheckAndReserveRequestBody
    data: CheckAndReserveFlag
  }
  'GET /v2/billing/credits/ledger': { id: 'listCreditEventLedger'; data: CreditLedgerEntry[] }
  'GET /v2/billing/credits/ledger/count': { id: 'countCreditEventLedger'; data: Count }
}
