// Prices of inference models (decision 18): per million tokens, as decimal text.
import typia, { type tags } from 'typia'

type Price = string & tags.Pattern<'^\\d{1,12}(\\.\\d{1,12})?$'>

export interface ModelPriceView {
  provider: string & tags.MinLength<1> & tags.MaxLength<255>
  model: string & tags.MinLength<1> & tags.MaxLength<255>
  currency: string & tags.Pattern<'^[A-Za-z]{3}$'>
  /** Applies to events captured from then on. */
  effective_at: string
  input: Price
  /** null: the price of other input. The same for `cache_write`. */
  cached_input?: Price | null
  cache_write?: Price | null
  output: Price
  /** null: the price of output. */
  reasoning?: Price | null
  per_request?: Price | null
}

export const parseModelPrices = typia.json.createValidateParse<ModelPriceView[] & tags.MaxItems<10_000>>()
