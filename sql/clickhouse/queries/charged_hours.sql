-- Usage of one company between given instants, for charge lines that reach further back than events are kept (EV-20, RA-8).
-- Takes {environment_id} {company_id: String} {subtypes: Array(String)}, {bounds_ms: Array(Int64)} ascending, the first
-- inclusive, the last exclusive, {cut_hours: Array(UInt32)}: the starts (s) of hours that a bound divides.
-- Gives (subtype, start_ms Int64, quantity as text, events UInt64) per interval with use, ascending. Backfill never becomes
-- money. Reads usage_by_hour along its key; events, along theirs, for the divided hours alone, as far as they are there.
WITH
  fromUnixTimestamp64Milli({bounds_ms:Array(Int64)}[1], 'UTC') AS window_start,
  fromUnixTimestamp64Milli({bounds_ms:Array(Int64)}[-1], 'UTC') AS window_end
SELECT subtype, start_ms, toString(sum(part)) AS quantity, sum(piece.events) AS events
FROM (
  SELECT
    subtype, roundDown(toInt64(toUnixTimestamp(hour)) * 1000, {bounds_ms:Array(Int64)}) AS start_ms,
    usage_by_hour.quantity - uncharged AS part, events
  FROM usage_by_hour
  WHERE environment_id = {environment_id:String} AND company_id = {company_id:String}
    AND subtype IN {subtypes:Array(String)} AND hour >= window_start AND hour < window_end
    AND toUnixTimestamp(hour) NOT IN {cut_hours:Array(UInt32)}
  UNION ALL
  SELECT
    subtype, roundDown(toUnixTimestamp64Milli(captured_at), {bounds_ms:Array(Int64)}) AS start_ms,
    events.quantity AS part, 1 AS events
  FROM events
  WHERE environment_id = {environment_id:String} AND company_id = {company_id:String}
    AND subtype IN {subtypes:Array(String)} AND type = 'track' AND status != 'failed' AND mode != 'backfill'
    AND captured_at >= window_start AND captured_at < window_end
    AND toUnixTimestamp(toStartOfHour(captured_at)) IN {cut_hours:Array(UInt32)}
) AS piece
GROUP BY subtype, start_ms
ORDER BY subtype, start_ms
