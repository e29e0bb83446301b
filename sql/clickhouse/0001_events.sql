-- Events as accepted (EV-70), one row each, written once by the projector and never changed.
-- Sorted so that one company's events lie together in time; the newest of a whole environment are found by
-- reading two narrow columns of the newest months (queries/events_list.sql).
-- non_replicated_deduplication_window here and on every table fed from here: a chunk that is sent again after a
-- crash carries the same token and is dropped, in the views' tables too.
CREATE TABLE events
(
  environment_id LowCardinality(String),
  company_id String,
  captured_at DateTime64(3, 'UTC'),
  id String,
  type LowCardinality(String),
  -- track.event, inference.event, flag_check.flag_key; empty for identify.
  subtype LowCardinality(String),
  user_id String,
  quantity Int64 DEFAULT 1,
  -- enriched, or failed with error_message.
  status LowCardinality(String),
  error_message String,
  -- normal, trusted, backfill; recorded: a check the service itself answered, counted elsewhere.
  mode LowCardinality(String) DEFAULT 'normal',
  sent_at Nullable(DateTime64(3, 'UTC')),
  loaded_at DateTime64(3, 'UTC'),
  processed_at Nullable(DateTime64(3, 'UTC')),
  api_key_id LowCardinality(String),
  idempotency_key String,
  lease_id String,
  reservation_id String,
  feature_ids Array(LowCardinality(String)),
  flag_id LowCardinality(String),
  -- The inference event this track event was derived from (EV-66).
  derived_from String,
  -- Cost of an inference event, and the price it was worked out from (EV-62); null when none is known (EV-63).
  cost Nullable(Decimal(38, 12)),
  currency LowCardinality(String),
  price_id String,
  body String CODEC(ZSTD(1)),
  INDEX by_id id TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX by_idempotency_key idempotency_key TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX by_user user_id TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX by_captured_at captured_at TYPE minmax GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(captured_at)
ORDER BY (environment_id, company_id, captured_at, id)
TTL toDateTime(captured_at) + INTERVAL 365 DAY
SETTINGS non_replicated_deduplication_window = 10000;
