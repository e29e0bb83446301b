-- What ClickHouse holds of some companies' track events, for GET /reconcile.
-- Takes {environment_id: String} {company_ids: Array(String)} {since: Int64}, a whole hour in seconds.
-- Gives (company_id, subtype, total, recent, raw), sums as text: the sum of all hours; that of hours from since on; that of the
-- events themselves from since on, which must be the same.
-- Reads both tables along their keys, of the companies named.
SELECT company_id, subtype, toString(sum(all_hours)) AS total, toString(sum(late_hours)) AS recent, toString(sum(single)) AS raw
FROM
(
  SELECT
    company_id, subtype, quantity AS all_hours,
    if(hour >= toDateTime({since:Int64}, 'UTC'), quantity, 0) AS late_hours, toInt64(0) AS single
  FROM usage_by_hour
  WHERE environment_id = {environment_id:String} AND company_id IN {company_ids:Array(String)}
  UNION ALL
  SELECT company_id, subtype, toInt64(0), toInt64(0), quantity
  FROM events
  WHERE environment_id = {environment_id:String} AND company_id IN {company_ids:Array(String)}
    AND captured_at >= toDateTime64({since:Int64}, 3, 'UTC') AND type = 'track' AND status != 'failed'
)
GROUP BY company_id, subtype
