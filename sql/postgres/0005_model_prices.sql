-- Prices of inference models that an account added to the built-in table (decision 18, EV-62). Decimal texts, per
-- million tokens; per_request per request. The newest row at or before an event's time is its price.
create table model_prices (
  id text primary key,
  account_id text not null references accounts on delete cascade,
  provider text not null,
  model text not null,
  currency text not null,
  effective_at timestamptz not null,
  input text not null,
  cached_input text,
  cache_write text,
  output text not null,
  reasoning text,
  per_request text,
  created_at timestamptz not null,
  unique (account_id, provider, model, currency, effective_at)
);
