-- Use that was received in a later hour than it was captured in, by both. Sums by hour do not tell when use was received; a
-- correction of a window asks for that when the events are kept no longer (RA-12, EV-20). Backfill never becomes money.
-- A billing period is surely over when a row goes.
CREATE TABLE late_use
(
  environment_id LowCardinality(String),
  company_id String,
  subtype LowCardinality(String),
  hour DateTime('UTC'),
  loaded_at DateTime64(3, 'UTC'),
  quantity SimpleAggregateFunction(sum, Int64),
  events SimpleAggregateFunction(sum, UInt64)
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(loaded_at)
ORDER BY (environment_id, company_id, subtype, hour, loaded_at)
TTL toDateTime(loaded_at) + INTERVAL 4 YEAR
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW late_use_fold TO late_use AS
SELECT
  environment_id, company_id, subtype, toStartOfHour(captured_at) AS hour, loaded_at,
  sum(events.quantity) AS quantity, count() AS events
FROM events
WHERE type = 'track' AND status != 'failed' AND mode = 'trusted' AND company_id != ''
  AND toStartOfHour(captured_at) < toStartOfHour(loaded_at)
GROUP BY environment_id, company_id, subtype, hour, loaded_at;

-- Fills it from events that are stored already. A second run adds nothing.
INSERT INTO late_use (environment_id, company_id, subtype, hour, loaded_at, quantity, events)
SELECT environment_id, company_id, subtype, hour, loaded_at, sum(part), toUInt64(sum(one))
FROM (
  SELECT
    environment_id, company_id, subtype, toStartOfHour(captured_at) AS hour, loaded_at, events.quantity AS part,
    toInt64(1) AS one
  FROM events
  WHERE type = 'track' AND status != 'failed' AND mode = 'trusted' AND company_id != ''
    AND toStartOfHour(captured_at) < toStartOfHour(loaded_at)
  UNION ALL
  SELECT environment_id, company_id, subtype, hour, loaded_at, -late_use.quantity, -toInt64(late_use.events)
  FROM late_use
)
GROUP BY environment_id, company_id, subtype, hour, loaded_at
HAVING sum(one) > 0;
