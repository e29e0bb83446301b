-- Usage of one event by one company between given instants, for GET /feature-usage-timeseries (US-10, US-11).
-- Takes {environment_id} {company_id} {subtype: String}, {bounds_ms: Array(Int64)} ascending, the first inclusive, the
-- last exclusive, {cut_hours: Array(UInt32)}: the starts (s) of hours that a bound divides.
-- Gives (start_ms Int64, quantity Int64 as text, events UInt64) per interval with events, ascending.
-- Reads usage_by_hour along its key; events, along theirs, for the divided hours alone.
WITH
  fromUnixTimestamp64Milli({bounds_ms:Array(Int64)}[1], 'UTC') AS window_start,
  fromUnixTimestamp64Milli({bounds_ms:Array(Int64)}[-1], 'UTC') AS window_end
SELECT start_ms, toString(sum(piece.quantity)) AS quantity, sum(piece.events) AS events
FROM (
  SELECT
    roundDown(toInt64(toUnixTimestamp(hour)) * 1000, {bounds_ms:Array(Int64)}) AS start_ms, quantity, events
  FROM usage_by_hour
  WHERE environment_id = {environment_id:String} AND company_id = {company_id:String}
    AND subtype = {subtype:String} AND hour >= window_start AND hour < window_end
    AND toUnixTimestamp(hour) NOT IN {cut_hours:Array(UInt32)}
  UNION ALL
  SELECT
    roundDown(toUnixTimestamp64Milli(captured_at), {bounds_ms:Array(Int64)}) AS start_ms, quantity, 1 AS events
  FROM events
  WHERE environment_id = {environment_id:String} AND company_id = {company_id:String}
    AND subtype = {subtype:String} AND type = 'track' AND status != 'failed'
    AND captured_at >= window_start AND captured_at < window_end
    AND toUnixTimestamp(toStartOfHour(captured_at)) IN {cut_hours:Array(UInt32)}
) AS piece
GROUP BY start_ms
ORDER BY start_ms
