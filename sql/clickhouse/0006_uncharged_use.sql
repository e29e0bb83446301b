-- Usage by hour says how much of it never becomes money: events that were brought in later (backfill). Charges that reach
-- further back than events are kept read hours (EV-20, RA-8).
ALTER TABLE usage_by_hour ADD COLUMN IF NOT EXISTS uncharged SimpleAggregateFunction(sum, Int64) DEFAULT 0;

ALTER TABLE usage_by_hour_fold MODIFY QUERY
SELECT
  environment_id, company_id, subtype, toStartOfHour(captured_at) AS hour,
  sum(events.quantity) AS quantity, count() AS events, max(captured_at) AS last,
  sumIf(events.quantity, mode = 'backfill') AS uncharged
FROM events
WHERE type = 'track' AND status != 'failed' AND company_id != ''
GROUP BY environment_id, company_id, subtype, hour;

-- Fills the column from events that are stored already. A second run adds nothing.
INSERT INTO usage_by_hour (environment_id, company_id, subtype, hour, quantity, events, last, uncharged)
SELECT environment_id, company_id, subtype, hour, 0, 0, max(last), sum(part) AS uncharged
FROM (
  SELECT
    environment_id, company_id, subtype, toStartOfHour(captured_at) AS hour, captured_at AS last, events.quantity AS part
  FROM events
  WHERE type = 'track' AND status != 'failed' AND company_id != '' AND mode = 'backfill'
  UNION ALL
  SELECT environment_id, company_id, subtype, hour, last, -usage_by_hour.uncharged
  FROM usage_by_hour
  WHERE usage_by_hour.uncharged != 0
)
GROUP BY environment_id, company_id, subtype, hour
HAVING uncharged != 0;
