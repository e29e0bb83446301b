-- Events as accepted (EV-70), their idempotency keys and their names.
-- non_replicated_deduplication_window here and on every table fed from here: a chunk that is sent again after a
-- crash carries the same token and is dropped, in the views' tables too.

-- One row per event, written once by the projector and never changed. Sorted so that one company's events lie together
-- in time; the newest of a whole environment are found by reading two narrow columns of the newest months
-- (queries/events_list.sql).
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

-- Idempotency keys of accepted events (EV-25), by receipt: a start rebuilds the 24-hour window from them.
CREATE TABLE event_claims
(
  loaded_at DateTime64(3, 'UTC'),
  environment_id LowCardinality(String),
  idempotency_key String,
  id String,
  captured_at DateTime64(3, 'UTC'),
  -- A small hash of what the event said, as src/core/usage/fingerprint.ts computes it; 0: not known.
  print UInt16 DEFAULT 0
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(loaded_at)
ORDER BY (loaded_at, id)
TTL toDateTime(loaded_at) + INTERVAL 2 DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 10000;

-- A derived event has its parent's key (EV-66); a failed one claims none (EV-28).
CREATE MATERIALIZED VIEW event_claims_fold TO event_claims AS
SELECT loaded_at, environment_id, idempotency_key, id, captured_at,
  toUInt16(greatest(1, bitAnd(CRC32(concat(type, '\0', subtype, '\0', toString(quantity), '\0',
    if(type IN ('track', 'inference'), substring(company_id, 6), ''))), 65535))) AS print
FROM events
WHERE idempotency_key != '' AND status != 'failed' AND derived_from = '';

-- One row per event name of an environment, for GET /event-types and the summaries shown with features.
-- Counts of companies and users are exact while they are small, within about half a percent beyond.
CREATE TABLE event_types
(
  environment_id LowCardinality(String),
  subtype LowCardinality(String),
  events SimpleAggregateFunction(sum, UInt64),
  companies AggregateFunction(uniqCombined64, String),
  users AggregateFunction(uniqCombined64, String),
  last SimpleAggregateFunction(max, DateTime64(3, 'UTC'))
)
ENGINE = AggregatingMergeTree
ORDER BY (environment_id, subtype)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW event_types_fold TO event_types AS
SELECT
  environment_id, subtype, count() AS events,
  uniqCombined64StateIf(company_id, company_id != '') AS companies,
  uniqCombined64StateIf(user_id, user_id != '') AS users,
  max(captured_at) AS last
FROM events
WHERE type = 'track' AND status != 'failed'
GROUP BY environment_id, subtype;
