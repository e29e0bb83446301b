// The shape of a credit account in the JSON of snapshots. Types only.
import type { Nanos } from '../values/amount.js'
import type { CreditAccount, GrantRenewal, SpentWindow } from './account-state.js'
import type { ClosedHold } from './closed-holds.js'

/** An account as JSON keeps it: the same members, but for what follows from others; amounts as `Nanos`. */
export type AccountJson = Jsonified<
  Omit<CreditAccount, 'order' | 'burning' | 'renewals' | 'closed' | 'spending'>
> & {
  readonly closed: readonly Jsonified<ClosedHold>[]
  /** Absent where nothing renews. */
  readonly renewals?: readonly GrantRenewal[]
  /** Absent where nothing was spent in a window of a spend policy. */
  readonly spending?: readonly Jsonified<SpentWindow>[]
}

/** A value as JSON keeps it: amounts as `Nanos`. */
export type Jsonified<T> = T extends bigint
  ? Nanos
  : T extends string | number | boolean | null
    ? T
    : T extends readonly (infer Item)[]
      ? Jsonified<Item>[]
      : { [Name in keyof T]: Jsonified<T[Name]> }
