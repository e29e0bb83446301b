// `long` on the wire: integers of 64 bits, with all their digits.
import type { tags } from 'typia'

/**
 * An integer within ±(2^63 − 1). JSON.parse rounds what is beyond ±(2^53 − 1): a route whose body has such a member
 * parses it with `exactly` (src/api/kit/long.ts), which keeps the digits.
 */
export type Long = number & tags.Type<'int64'>
