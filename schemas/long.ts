// `long` on the wire: integers of 64 bits, with all their digits.
import type { tags } from 'typia'

/**
 * An integer within ±(2^63 − 1). JSON.parse rounds what is beyond ±(2^53 − 1): a route whose body has such a member
 * parses it with `exactly` (src/kit/long.ts), which keeps the digits.
 */
export type Long = number & tags.Type<'int64'>

/** Money in the smallest unit of its currency. */
export type Money = Long & tags.Minimum<0>

/** A decimal without sign or exponent: an amount finer than the smallest unit. */
export type DecimalText = string & tags.Pattern<'^[0-9]{1,19}(\\.[0-9]{1,12})?$'>
