-- Usage of one company between given instants, of the events received before others, for charge lines that reach further
-- back than events are kept (EV-20, RA-8).
-- Takes {environment_id} {company_id: String} {subtypes: Array(String)}, {bounds_ms: Array(Int64)} ascending, the first
-- inclusive, the last exclusive, {received_ms: Array(Int64)}: cut-offs of receipt, exclusive; {cut_hours: Array(UInt32)}: the
-- starts (s) of hours that a bound divides.
-- Gives (subtype, received_ms Int64, start_ms Int64, quantity as text, events UInt64) per interval and cut-off with use,
-- ascending. Use in an hour was received in it, but for what late_use has. Backfill never becomes money.
-- Reads usage_by_hour and late_use along their keys; events, along theirs, for the divided hours alone, as far as they are
-- there.
WITH
  fromUnixTimestamp64Milli({bounds_ms:Array(Int64)}[1], 'UTC') AS window_start,
  fromUnixTimestamp64Milli({bounds_ms:Array(Int64)}[-1], 'UTC') AS window_end
SELECT
  subtype, received_ms, start_ms, toString(sum(part)) AS quantity, toUInt64(greatest(0, sum(piece.events))) AS events
FROM (
  SELECT
    subtype, roundDown(toInt64(toUnixTimestamp(hour)) * 1000, {bounds_ms:Array(Int64)}) AS start_ms,
    usage_by_hour.quantity - uncharged AS part, toInt64(usage_by_hour.events) AS events,
    toInt64(-1) AS after_ms
  FROM usage_by_hour
  WHERE environment_id = {environment_id:String} AND company_id = {company_id:String}
    AND subtype IN {subtypes:Array(String)} AND hour >= window_start AND hour < window_end
    AND toUnixTimestamp(hour) NOT IN {cut_hours:Array(UInt32)}
  UNION ALL
  -- late use is in the sum of its hour: it is taken out of that, and counts after its receipt
  SELECT
    subtype, roundDown(toInt64(toUnixTimestamp(hour)) * 1000, {bounds_ms:Array(Int64)}) AS start_ms,
    sign.1 * late_use.quantity AS part, sign.1 * toInt64(late_use.events) AS events, sign.2 AS after_ms
  FROM late_use
  ARRAY JOIN [(toInt64(-1), toInt64(-1)), (toInt64(1), toUnixTimestamp64Milli(loaded_at))] AS sign
  WHERE environment_id = {environment_id:String} AND company_id = {company_id:String}
    AND subtype IN {subtypes:Array(String)} AND hour >= window_start AND hour < window_end
    AND toUnixTimestamp(hour) NOT IN {cut_hours:Array(UInt32)}
  UNION ALL
  SELECT
    subtype, roundDown(toUnixTimestamp64Milli(captured_at), {bounds_ms:Array(Int64)}) AS start_ms,
    events.quantity AS part, toInt64(1) AS events, toUnixTimestamp64Milli(loaded_at) AS after_ms
  FROM events
  WHERE environment_id = {environment_id:String} AND company_id = {company_id:String}
    AND subtype IN {subtypes:Array(String)} AND type = 'track' AND status != 'failed' AND mode != 'backfill'
    AND captured_at >= window_start AND captured_at < window_end
    AND toUnixTimestamp(toStartOfHour(captured_at)) IN {cut_hours:Array(UInt32)}
) AS piece
ARRAY JOIN {received_ms:Array(Int64)} AS received_ms
WHERE after_ms < received_ms
GROUP BY subtype, received_ms, start_ms
ORDER BY subtype, received_ms, start_ms
