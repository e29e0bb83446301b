-- Events of one company that were received after the end of a window they belong to, for corrections (RA-12).
-- Takes {environment_id} {company_id: String} {ends_ms: Array(Int64)}: ends of windows, ascending; {from_ms} {until_ms: Int64}:
-- received at or after the first and before the second.
-- Gives (subtype, captured_ms, received_ms: Int64), one row for each pair of windows in which events were captured and received.
-- Reads events along their key; only clocks that are trusted tell of earlier instants. Events that are kept no longer are in
-- late_use: as of the start of their hour.
SELECT subtype, min(late.captured_ms) AS captured_ms, min(late.received_ms) AS received_ms
FROM (
  SELECT
    subtype, toUnixTimestamp64Milli(captured_at) AS captured_ms, toUnixTimestamp64Milli(loaded_at) AS received_ms
  FROM events
  WHERE environment_id = {environment_id:String} AND company_id = {company_id:String}
    AND type = 'track' AND status != 'failed' AND mode = 'trusted'
    AND captured_at < fromUnixTimestamp64Milli({until_ms:Int64}, 'UTC')
    AND loaded_at >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC')
    AND loaded_at < fromUnixTimestamp64Milli({until_ms:Int64}, 'UTC')
  UNION ALL
  SELECT
    subtype, toInt64(toUnixTimestamp(hour)) * 1000 AS captured_ms, toUnixTimestamp64Milli(loaded_at) AS received_ms
  FROM late_use
  WHERE environment_id = {environment_id:String} AND company_id = {company_id:String}
    AND hour < fromUnixTimestamp64Milli({until_ms:Int64}, 'UTC')
    AND loaded_at >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC')
    AND loaded_at < fromUnixTimestamp64Milli({until_ms:Int64}, 'UTC')
) AS late
WHERE roundDown(late.captured_ms, arrayPushFront({ends_ms:Array(Int64)}, 0))
  < roundDown(late.received_ms, arrayPushFront({ends_ms:Array(Int64)}, 0))
GROUP BY subtype, roundDown(late.captured_ms, arrayPushFront({ends_ms:Array(Int64)}, 0)),
  roundDown(late.received_ms, arrayPushFront({ends_ms:Array(Int64)}, 0))
