-- Idempotency keys of accepted events (EV-25), by receipt: what the 24-hour window is rebuilt from at start.
CREATE TABLE event_claims
(
  loaded_at DateTime64(3, 'UTC'),
  environment_id LowCardinality(String),
  idempotency_key String,
  id String,
  captured_at DateTime64(3, 'UTC')
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(loaded_at)
ORDER BY (loaded_at, id)
TTL toDateTime(loaded_at) + INTERVAL 2 DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 10000;

-- A derived event has its parent's key (EV-66); a failed one claims none (EV-28).
CREATE MATERIALIZED VIEW event_claims_fold TO event_claims AS
SELECT loaded_at, environment_id, idempotency_key, id, captured_at
FROM events
WHERE idempotency_key != '' AND status != 'failed' AND derived_from = '';
