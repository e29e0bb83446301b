-- Usage per company, event and period, for GET /feature-usage-history (US-20…24).
-- Takes {environment_id: String}, {company_ids: Array(String)} (empty: all), {subtypes: Array(String)},
-- {bounds_ms: Array(Int64)} ascending, the first inclusive, the last exclusive, {cut_hours: Array(UInt32)}: the starts (s)
-- of hours that a bound divides; {limit} {offset: UInt64}.
-- Gives (company_id, subtype, start_ms Int64, quantity Int64 as text), a row only where there were events.
-- Reads usage_by_hour along its key; events, along theirs, for the divided hours alone.
WITH
  fromUnixTimestamp64Milli({bounds_ms:Array(Int64)}[1], 'UTC') AS window_start,
  fromUnixTimestamp64Milli({bounds_ms:Array(Int64)}[-1], 'UTC') AS window_end
SELECT company_id, subtype, start_ms, toString(sum(piece.quantity)) AS quantity
FROM (
  SELECT
    company_id, subtype,
    roundDown(toInt64(toUnixTimestamp(hour)) * 1000, {bounds_ms:Array(Int64)}) AS start_ms, quantity
  FROM usage_by_hour
  WHERE environment_id = {environment_id:String}
    AND (empty({company_ids:Array(String)}) OR company_id IN {company_ids:Array(String)})
    AND subtype IN {subtypes:Array(String)} AND hour >= window_start AND hour < window_end
    AND toUnixTimestamp(hour) NOT IN {cut_hours:Array(UInt32)}
  UNION ALL
  SELECT
    company_id, subtype,
    roundDown(toUnixTimestamp64Milli(captured_at), {bounds_ms:Array(Int64)}) AS start_ms, quantity
  FROM events
  WHERE environment_id = {environment_id:String} AND company_id != ''
    AND (empty({company_ids:Array(String)}) OR company_id IN {company_ids:Array(String)})
    AND subtype IN {subtypes:Array(String)} AND type = 'track' AND status != 'failed'
    AND captured_at >= window_start AND captured_at < window_end
    AND toUnixTimestamp(toStartOfHour(captured_at)) IN {cut_hours:Array(UInt32)}
) AS piece
GROUP BY company_id, subtype, start_ms
ORDER BY start_ms, company_id, subtype
LIMIT {limit:UInt64} OFFSET {offset:UInt64}
