-- The credit ledger: one row per movement of one grant, append-only, never netted (CR-86…91). Kept for ever.
-- sequence is strictly increasing per company and credit: the order in which entries were applied (CR-89).
CREATE TABLE credit_ledger
(
  environment_id LowCardinality(String),
  company_id String,
  credit_id LowCardinality(String),
  event_at DateTime64(3, 'UTC'),
  sequence UInt64,
  -- grant, usage, zero_out, transfer.
  event_type LowCardinality(String),
  usage_reason LowCardinality(String),
  -- The signed effect on the grant's remaining, and the credits consumed (CR-87).
  amount Decimal(38, 9),
  quantity_consumed Decimal(38, 9),
  grant_id String,
  -- What the grant had after; null where it did not change.
  grant_quantity_remaining Nullable(Decimal(38, 9)),
  from_grant_id String,
  to_grant_id String,
  transfer_reason LowCardinality(String),
  zeroed_out_reason LowCardinality(String),
  feature_id LowCardinality(String),
  user_id String,
  usage_event_id String,
  -- The lease or reservation that held the credits.
  hold_id String,
  -- Members of entries of type grant.
  grant_reason LowCardinality(String),
  grant_quantity Nullable(Decimal(38, 9)),
  grant_valid_from Nullable(DateTime64(3, 'UTC')),
  grant_expires_at Nullable(DateTime64(3, 'UTC')),
  plan_id LowCardinality(String),
  plan_grant_id LowCardinality(String),
  billing_credit_bundle_id LowCardinality(String),
  source_grant_id String
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(event_at)
ORDER BY (environment_id, company_id, credit_id, event_at, sequence)
SETTINGS non_replicated_deduplication_window = 10000;

-- Per UTC day: credits consumed by track events, net of refunds (US-7, US-40), and the balance's change (CR-89).
CREATE TABLE credit_usage_by_day
(
  environment_id LowCardinality(String),
  company_id String,
  credit_id LowCardinality(String),
  day Date,
  feature_id LowCardinality(String),
  user_id String,
  consumed SimpleAggregateFunction(sum, Decimal(38, 9)),
  amount SimpleAggregateFunction(sum, Decimal(38, 9)),
  entries SimpleAggregateFunction(sum, UInt64)
)
ENGINE = AggregatingMergeTree
PARTITION BY toYear(day)
ORDER BY (environment_id, company_id, credit_id, day, feature_id, user_id)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW credit_usage_by_day_fold TO credit_usage_by_day AS
SELECT
  environment_id, company_id, credit_id, toDate(event_at) AS day, feature_id, user_id,
  sumIf(quantity_consumed, usage_reason = 'track') AS consumed,
  sum(credit_ledger.amount) AS amount, count() AS entries
FROM credit_ledger
GROUP BY environment_id, company_id, credit_id, day, feature_id, user_id;
