-- Events of one company that were received after the end of a window they belong to, for corrections (RA-12).
-- Takes {environment_id} {company_id: String} {ends_ms: Array(Int64)}: ends of windows, ascending; {from_ms} {until_ms: Int64}:
-- received at or after the first and before the second.
-- Gives (subtype, captured_ms, received_ms: Int64), one row for each pair of windows in which events were captured and received.
-- Reads events along their key; only clocks that are trusted tell of earlier instants.
SELECT
  subtype, min(toUnixTimestamp64Milli(captured_at)) AS captured_ms, min(toUnixTimestamp64Milli(loaded_at)) AS received_ms
FROM events
WHERE environment_id = {environment_id:String} AND company_id = {company_id:String}
  AND type = 'track' AND status != 'failed' AND mode = 'trusted'
  AND captured_at < fromUnixTimestamp64Milli({until_ms:Int64}, 'UTC')
  AND loaded_at >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC')
  AND loaded_at < fromUnixTimestamp64Milli({until_ms:Int64}, 'UTC')
  AND roundDown(toUnixTimestamp64Milli(captured_at), arrayPushFront({ends_ms:Array(Int64)}, 0))
    < roundDown(toUnixTimestamp64Milli(loaded_at), arrayPushFront({ends_ms:Array(Int64)}, 0))
GROUP BY subtype,
  roundDown(toUnixTimestamp64Milli(captured_at), arrayPushFront({ends_ms:Array(Int64)}, 0)),
  roundDown(toUnixTimestamp64Milli(loaded_at), arrayPushFront({ends_ms:Array(Int64)}, 0))
