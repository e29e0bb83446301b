// React hooks over the client: the standing of one company and user, kept current and shared by the components below a
// provider.
import {
  createContext,
  createElement,
  type ReactElement,
  type ReactNode,
  useContext,
  useMemo,
  useSyncExternalStore,
} from 'react'
import {
  type Checked,
  type Context,
  type Entitlement,
  type Standing,
  type Tollgate,
  Watch,
  type Watched,
} from '../../typescript/src/index.js'

interface Provided {
  readonly client: Tollgate
  readonly watch: Watch
}

const Provision = createContext<Provided | null>(null)

export interface TollgateProviderProps {
  /** One client for the life of the page: make it outside components. */
  readonly client: Tollgate
  /** The company and user. With a signed context the service knows them, and nothing is given here. */
  readonly context?: Context
  /** The standing that the server rendered with (`client.standing`): the page begins with it, and nothing flickers. */
  readonly initial?: Standing | null
  /** Interval between two questions while nothing is pushed, ms. Default 30 000. */
  readonly pollMs?: number
  readonly children?: ReactNode
}

/** Gives the hooks below it a client and the context that they are about. */
export function TollgateProvider(props: TollgateProviderProps): ReactElement {
  const { client, context, initial = null, pollMs, children } = props
  // Callers write contexts in place: equal ones are the same.
  const named = JSON.stringify([context?.company ?? null, context?.user ?? null])
  // `named` stands for the context, and `initial` is the value of the first render.
  const provided = useMemo<Provided>(() => {
    const options = { initial, ...(pollMs !== undefined && { pollMs }) }
    return { client, watch: new Watch(client, context ?? {}, options) }
  }, [client, named, pollMs])
  return createElement(Provision.Provider, { value: provided }, children)
}

function useProvided(): Provided {
  const provided = useContext(Provision)
  if (provided === null)
    throw new Error('Tollgate’s hooks need a provider above them: <TollgateProvider client={…}>')
  return provided
}

function useWatched(): Watched {
  const { watch } = useProvided()
  return useSyncExternalStore(watch.subscribe, watch.current, watch.current)
}

/** The client of the provider: `useTollgate().track('export')`. */
export function useTollgate(): Tollgate {
  return useProvided().client
}

/** The whole standing, with the reason when the last question was not answered; `standing` is null until the first answer. */
export function useStanding(): Watched {
  return useWatched()
}

/** Whether a flag is on. `fallback` until the first answer, and for a flag that does not exist; default false. */
export function useFlag(flagKey: string, fallback = false): boolean {
  return useWatched().flags.get(flagKey)?.value ?? fallback
}

export interface EntitlementState {
  /** No answer yet. */
  readonly isLoading: boolean
  /** Whether more may be used. */
  readonly isAllowed: boolean
  /** Units in the period; null: no limit, or none is known. */
  readonly allocation: number | null
  /** Units used in the period; null: the feature counts none. */
  readonly usage: number | null
  /** Units left, at least 0; null without a limit. */
  readonly remaining: number | null
  /** When the period ends, RFC 3339; null: it does not, or there is none. */
  readonly resetAt: string | null
  /** The entitlement itself, in the interface's shape. */
  readonly entitlement: Entitlement | null
  /** The check it is from; null: none yet. */
  readonly check: Checked | null
}

/** The entitlement behind a flag: limit, use, and the rest. */
export function useEntitlement(flagKey: string): EntitlementState {
  const { standing, flags } = useWatched()
  const check = flags.get(flagKey) ?? null
  const entitlement = check?.entitlement ?? null
  const allocation = entitlement?.allocation ?? check?.feature_allocation ?? null
  const usage = entitlement?.usage ?? check?.feature_usage ?? null
  const ofCredits = entitlement?.credit_remaining ?? null
  return {
    isLoading: standing === null,
    isAllowed: check?.value ?? false,
    allocation,
    usage,
    remaining: ofCredits ?? (allocation === null ? null : Math.max(0, allocation - (usage ?? 0))),
    resetAt: entitlement?.metric_reset_at ?? check?.feature_usage_reset_at ?? null,
    entitlement,
    check,
  }
}

export interface Credits {
  readonly creditId: string
  /** Credits that may be used. */
  readonly remaining: number
  /** Held by leases and reservations; null: not told. */
  readonly reserved: number | null
  /** Remaining and reserved together; null: not told. */
  readonly settled: number | null
}

/** The balances of the company's credits, ordered by id; empty until the first answer. */
export function useCredits(): readonly Credits[] {
  const { standing } = useWatched()
  return useMemo(() => {
    const balances = Object.entries(standing?.credits ?? {}).sort(([one], [other]) => (one < other ? -1 : 1))
    return balances.map(([creditId, { remaining, reserved, settled }]) => ({
      creditId,
      remaining,
      reserved: reserved ?? null,
      settled: settled ?? null,
    }))
  }, [standing])
}
