// The OpenFeature Remote Evaluation Protocol on the wire.
import typia from 'typia'

/** What a client of OFREP knows of who asks; everything else in it is ignored. */
export interface OfrepContext {
  /** Stands for `userKey` when no user is named otherwise. */
  targetingKey?: string
  /** Keys of the company, as a check takes them. */
  company?: { [name: string]: string }
  /** Keys of the user. */
  user?: { [name: string]: string }
  /** One key of the company, for contexts that must be flat. */
  companyKey?: string
  /** What that key is called; `id` unless told. */
  companyKeyName?: string
  userKey?: string
  userKeyName?: string
}

/** Body of both OFREP operations. */
export interface OfrepRequest {
  context?: OfrepContext
}

/** A flag's value as OFREP has it. */
export interface OfrepEvaluation {
  key: string
  value: boolean
  variant: 'on' | 'off'
  /** ERROR: the check failed, and the value is the flag's default. */
  reason: 'TARGETING_MATCH' | 'DEFAULT' | 'ERROR'
  /** What a check says besides: the reason in words, the ids, the figures. */
  metadata: { [name: string]: string | number | boolean }
}

export interface OfrepEvaluations {
  flags: OfrepEvaluation[]
}

/** Why OFREP got no value. */
export interface OfrepFailure {
  /** Absent when all flags were asked for. */
  key?: string
  errorCode: 'PARSE_ERROR' | 'INVALID_CONTEXT' | 'FLAG_NOT_FOUND'
  errorDetails: string
}

export const validateOfrep = typia.createValidate<OfrepRequest>()
