-- Flag checks by minute: those the service answered (written as counts by the shards) and those that callers
-- report as events. Recorded rows among the events are samples of the first kind and are not counted again.
CREATE TABLE flag_checks
(
  environment_id LowCardinality(String),
  flag_id LowCardinality(String),
  flag_key LowCardinality(String),
  minute DateTime('UTC'),
  company_id String,
  value Bool,
  reason LowCardinality(String),
  checks UInt64
)
ENGINE = SummingMergeTree(checks)
PARTITION BY toYYYYMM(minute)
ORDER BY (environment_id, flag_id, flag_key, minute, company_id, value, reason)
TTL minute + INTERVAL 365 DAY
SETTINGS non_replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW flag_checks_fold TO flag_checks AS
SELECT
  environment_id, flag_id, subtype AS flag_key, toStartOfMinute(captured_at) AS minute, company_id,
  JSONExtractBool(body, 'value') AS value, JSONExtractString(body, 'reason') AS reason, count() AS checks
FROM events
WHERE type = 'flag_check' AND status != 'failed' AND mode != 'recorded'
GROUP BY environment_id, flag_id, flag_key, minute, company_id, value, reason;
