// The member of bodies whose write honours an idempotency key.
import type { tags } from 'typia'

/** A body of a write that grants, sells, holds or changes what is paid (decision 37). */
export interface Keyed {
  /** The same as the header Idempotency-Key. */
  idempotency_key?: (string & tags.MinLength<1> & tags.MaxLength<255>) | null | undefined
}
