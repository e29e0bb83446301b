// Requests and responses of the OpenFeature Remote Evaluation Protocol.
import typia from 'typia'

/** The evaluation context of an OFREP client. Other members are ignored. */
export interface OfrepContext {
  /** Used as `userKey` if the user is not named otherwise. */
  targetingKey?: string
  /** Keys of the company, as in a check. */
  company?: { [name: string]: string }
  /** Keys of the user. */
  user?: { [name: string]: string }
  /** One key of the company, for clients with flat contexts. */
  companyKey?: string
  /** Name of that key; default `id`. */
  companyKeyName?: string
  userKey?: string
  userKeyName?: string
}

/** Body of both OFREP operations. */
export interface OfrepRequest {
  context?: OfrepContext
}

/** A flag's value in OFREP form. */
export interface OfrepEvaluation {
  key: string
  value: boolean
  variant: 'on' | 'off'
  /** ERROR: the check failed, and the value is the flag's default. */
  reason: 'TARGETING_MATCH' | 'DEFAULT' | 'ERROR'
  /** Further results of the check: the reason in words, ids, figures. */
  metadata: { [name: string]: string | number | boolean }
}

export interface OfrepEvaluations {
  flags: OfrepEvaluation[]
}

/** An OFREP error. */
export interface OfrepFailure {
  /** Absent when all flags were evaluated. */
  key?: string
  errorCode: 'PARSE_ERROR' | 'INVALID_CONTEXT' | 'FLAG_NOT_FOUND'
  errorDetails: string
}

export const validateOfrep = typia.createValidate<OfrepRequest>()
