// Checks that stand for many: every flag of an environment, for one context or a hundred. They are charged by the work they
// make, and wait for their environment's turn (src/entities/turns/many-turns.ts; security H3).
import type { Call } from '../../kit/call.js'

/** Flags evaluated for one token of the rate limit: nearly every environment has fewer. source: decision */
export const flagsPerToken = 100
/** Evaluations of one request, which bound its answer to some megabytes. source: decision */
const evaluationsMax = 10_000
/** Contexts of one bulk check (FE-92). */
const contextsMax = 100
/** Contexts of one request with a publishable key: a page checks for one company and its user. source: decision */
const publicContextsMax = 10

/** Flags of the call's environment. */
export function flagsOf({ services, environment }: Call<unknown>): number {
  return services.catalogs.get(environment.id).flags.length
}

/** Contexts that one request may have, by the number of flags; at least one. */
export function contextsFor(flags: number, isPublic: boolean): number {
  const evaluated = Math.max(1, Math.floor(evaluationsMax / Math.max(1, flags)))
  return Math.min(isPublic ? publicContextsMax : contextsMax, evaluated)
}

/** Whether every flag of the environment for one context costs more than the request's own token. */
export function isHeavy(call: Call<unknown>): boolean {
  return flagsOf(call) > flagsPerToken
}

/** Tokens of every flag for so many contexts beyond the one that is paid already: each costs as a request of its own. */
export function tokensFor(flags: number, contexts: number): number {
  return contexts * Math.max(1, Math.ceil(flags / flagsPerToken)) - 1
}

/**
 * Charge every flag for so many contexts.
 *
 * errors  rate_limited (429).
 */
export function chargeFor(call: Call<unknown>, contexts: number): void {
  const tokens = tokensFor(flagsOf(call), contexts)
  if (tokens > 0) call.charge?.(tokens)
}
