-- When a company first used an event since an instant, for billing cycles that begin in the middle of a window (US-3).
-- Takes {environment_id} {company_id} {subtype: String}, {from_ms: Int64} inclusive.
-- Gives (first_ms Int64, events UInt64): one row; first_ms means nothing without events.
-- Reads events along their key.
SELECT toUnixTimestamp64Milli(min(captured_at)) AS first_ms, count() AS events
FROM events
WHERE environment_id = {environment_id:String} AND company_id = {company_id:String}
  AND subtype = {subtype:String} AND type = 'track' AND status != 'failed'
  AND captured_at >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC')
