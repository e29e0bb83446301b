-- Usage of track events by hour (US-1), of companies and of their users. Kept when the events expire (EV-20).
-- A net quantity of zero keeps its row (US-21): rows are folded, never dropped for what they sum to.
CREATE TABLE usage_by_hour
(
  environment_id LowCardinality(String),
  company_id String,
  subtype LowCardinality(String),
  hour DateTime('UTC'),
  quantity SimpleAggregateFunction(sum, Int64),
  events SimpleAggregateFunction(sum, UInt64),
  last SimpleAggregateFunction(max, DateTime64(3, 'UTC'))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(hour)
ORDER BY (environment_id, company_id, subtype, hour)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW usage_by_hour_fold TO usage_by_hour AS
SELECT
  environment_id, company_id, subtype, toStartOfHour(captured_at) AS hour,
  sum(events.quantity) AS quantity, count() AS events, max(captured_at) AS last
FROM events
WHERE type = 'track' AND status != 'failed' AND company_id != ''
GROUP BY environment_id, company_id, subtype, hour;

-- user_id is empty for usage without a user: users' rows sum to the company's (US-30).
CREATE TABLE usage_by_user_hour
(
  environment_id LowCardinality(String),
  company_id String,
  user_id String,
  subtype LowCardinality(String),
  hour DateTime('UTC'),
  quantity SimpleAggregateFunction(sum, Int64),
  events SimpleAggregateFunction(sum, UInt64),
  last SimpleAggregateFunction(max, DateTime64(3, 'UTC'))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(hour)
ORDER BY (environment_id, company_id, user_id, subtype, hour)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW usage_by_user_hour_fold TO usage_by_user_hour AS
SELECT
  environment_id, company_id, user_id, subtype, toStartOfHour(captured_at) AS hour,
  sum(events.quantity) AS quantity, count() AS events, max(captured_at) AS last
FROM events
WHERE type = 'track' AND status != 'failed' AND company_id != ''
GROUP BY environment_id, company_id, user_id, subtype, hour;
