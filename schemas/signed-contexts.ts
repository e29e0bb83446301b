// Signed contexts: what a server says of company and user, for the holder of a publishable key to send.
import typia, { type tags } from 'typia'

type Keys = Record<string, string>

/** The payload of a signed context. */
export interface SignedPayload {
  /** Until when it is believed, seconds since 1970; at most seven days ahead. */
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
  /** From now on; an hour unless told. */
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
  /** How long contexts signed with the former secret are still believed; 0 unless told. */
  overlap_seconds?: (number & tags.Type<'int32'> & tags.Minimum<0> & tags.Maximum<604_800>) | null | undefined
}

export const parseContextSecretRoll = typia.json.createValidateParse<ContextSecretRoll>()

/** What an environment's contexts are signed with. */
export interface ContextSecretView {
  environment_id: string
  /** null: none was made yet, so no context is believed. */
  secret: string | null
  /** Until when contexts signed with the secret before it are believed. */
  former_until: string | null
}
