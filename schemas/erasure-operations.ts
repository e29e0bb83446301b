// The operations of erasure, part of operations.ts.
import type { Erasure, ErasureRequest } from './erasures.js'

export interface ErasureOperations {
  /**
   * Erases a company: its keys, traits, memberships, overrides, billing details, the bodies of its events, webhook
   * payloads, and texts of the audit log. Counts and the ledger stay under its id, which names nothing any more.
   */
  'POST /companies/{company_id}/erase': { id: 'eraseCompany'; body: ErasureRequest; data: Erasure }
  /** Everything held of a company, one JSON object on each line: `{"table", "row"}`. */
  'GET /companies/{company_id}/export': { id: 'exportCompany'; file: 'application/x-ndjson' }
  /** Erasures, newest first. After a restore of an older backup those since then are to be asked for again. */
  'GET /erasures': { id: 'listErasures'; data: Erasure[] }
  /** Erases a person, as a company is erased. */
  'POST /users/{user_id}/erase': { id: 'eraseUser'; body: ErasureRequest; data: Erasure }
  /** Everything held of a person, one JSON object on each line: `{"table", "row"}`. */
  'GET /users/{user_id}/export': { id: 'exportUser'; file: 'application/x-ndjson' }
}
