-- The number of events, for GET /events/count, at most {most_counted: UInt64}, so that a wide question stays cheap.
-- Takes the filters of events_list.sql. Gives (n UInt64). Reads a body only for value or reason.
SELECT count() AS n FROM (
  SELECT 1 FROM events
  WHERE environment_id = {environment_id:String}
    AND company_id = {company_id:String}
    AND captured_at >= fromUnixTimestamp64Milli({since_ms:Int64}, 'UTC')
    AND captured_at < fromUnixTimestamp64Milli({until_ms:Int64}, 'UTC')
    AND type IN {types:Array(String)}
    AND status = {status:String}
    AND quantity >= {least:Int64}
    AND quantity <= {most:Int64}
    AND user_id = {user_id:String}
    AND subtype = {subtype:String}
    AND flag_id = {flag_id:String}
    AND type = 'flag_check' AND subtype = {flag_key:String}
    AND type = 'flag_check' AND JSONExtractBool(body, 'value') = ({value:String} = 'true')
    AND type = 'flag_check' AND JSONExtractString(body, 'reason') = {reason:String}
    AND idempotency_key IN ({idempotency_key:String}, concat('\0', {idempotency_key:String}))
  LIMIT {most_counted:UInt64})
