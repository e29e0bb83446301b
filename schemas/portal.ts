// Tokens for one company, and what its own page may show with them.
import typia, { type tags } from 'typia'

/** Body of POST /temporary-access-tokens. */
export interface TemporaryAccessTokenCreate {
  /** Keys of the company. */
  lookup: Readonly<Record<string, string>>
  resource_type: 'company'
  /** How long the token is good for, 60 to 86400; default 900. */
  expires_in_seconds?:
    | (number & tags.Type<'uint32'> & tags.Minimum<60> & tags.Maximum<86_400>)
    | null
    | undefined
}
export const parseTemporaryAccessTokenCreate = typia.json.createValidateParse<TemporaryAccessTokenCreate>()

/** A token that reads one company's portal. */
export interface TemporaryAccessToken {
  id: string
  environment_id: string
  /** The value, for X-Service-Api-Key; shown only here. */
  token: string
  issuer_type: 'api_key'
  resource_type: 'company'
  /** Absent: a person made it. */
  api_key_id?: string
  created_at: string
  updated_at: string
  /** Until when it is accepted. */
  expired_at: string
}

/** The data that a company's own page may show: its plan, its use against limits, its credits. No ids of other entities. */
export interface Portal {
  company: { id: string; name: string }
  plan: PortalPlan | null
  add_ons: { name: string }[]
  features: PortalFeature[]
  credits: { name: string; remaining: number; total: number }[]
}

export interface PortalPlan {
  name: string
  description: string | null
  /** The price that the company pays, in the currency's smallest unit; null: none bills it. */
  price: number | null
  /** null: no price bills it. */
  period: string | null
}

export interface PortalFeature {
  name: string
  value_type: string
  /** false: the plan has the feature, but not now. */
  allowed: boolean
  usage: number | null
  /** null: without a limit. */
  limit: number | null
  resets_at: string | null
}
