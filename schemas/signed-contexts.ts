// Signed contexts: a company and user, signed by a server for the holder of a publishable key.
import typia, { type tags } from 'typia'

type Keys = Record<string, string>

/** The payload of a signed context. */
interface SignedPayload {
  /** Accepted until then, epoch seconds; at most seven days ahead. */
  exp: number & tags.Type<'int64'>
  company?: Keys | null | undefined
  user?: Keys | null | undefined
  company_traits?: Record<string, unknown> | null | undefined
  user_traits?: Record<string, unknown> | null | undefined
}

export const validateSignedPayload = typia.createValidate<SignedPayload>()

/** Body of POST /signed-contexts. */
export interface SignedContextCreate {
  company?: Keys | null | undefined
  user?: Keys | null | undefined
  company_traits?: Record<string, unknown> | null | undefined
  user_traits?: Record<string, unknown> | null | undefined
  /** Validity from now on, seconds; default one hour. */
  expires_in_seconds?:
    | (number & tags.Type<'int32'> & tags.Minimum<1> & tags.Maximum<604_800>)
    | null
    | undefined
}

export const parseSignedContextCreate = typia.json.createValidateParse<SignedContextCreate>()

export interface SignedContextView {
  signed_context: string
  expires_at: string
}

/** Body of POST /environments/{environment_id}/context-secret. */
export interface ContextSecretRoll {
  /** Seconds for which contexts signed with the former secret are still accepted; default 0. */
  overlap_seconds?: (number & tags.Type<'int32'> & tags.Minimum<0> & tags.Maximum<604_800>) | null | undefined
}

export const parseContextSecretRoll = typia.json.createValidateParse<ContextSecretRoll>()

/** The secrets that sign an environment's contexts. */
export interface ContextSecretView {
  environment_id: string
  /** null: no secret exists yet, so no context is accepted. */
  secret: string | null
  /** Until when contexts signed with the former secret are accepted. */
  former_until: string | null
}
