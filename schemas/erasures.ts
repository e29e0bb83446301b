// Erasure of one company or person, and the export of everything held of them.
import typia, { type tags } from 'typia'

/** Body of POST /companies/{company_id}/erase and POST /users/{user_id}/erase. */
export interface ErasureRequest {
  /** Days for which backups are kept. Default: 30. */
  backups_kept_days?: (number & tags.Type<'int32'> & tags.Minimum<0> & tags.Maximum<3_650>) | null | undefined
}

export const parseErasureRequest = typia.json.createValidateParse<ErasureRequest>()

/** The record of an erasure. */
export interface Erasure {
  id: string
  environment_id: string
  kind: 'company' | 'user'
  /** The id that counts and the ledger stay under. It names nothing any more. */
  entity_id: string
  api_key_id: string | null
  /** Rows removed or blanked, by place. */
  removed: { [place: string]: number }
  /** Since when no file of the stores holds it. null: not yet, or the stores are not embedded. */
  gone_from_files_at: string | null
  /** The last backup that may hold it is thrown away by then. */
  gone_from_backups_at: string
  requested_at: string
  /** null: it takes longer, or a store was away; the rest follows. */
  erased_at: string | null
}
