-- Credits consumed by track events, net of refunds, per user of one company in a window (US-31, US-35).
-- Takes {environment_id} {company_id: String} {from_ms} {to_ms: Int64, exclusive} {daily: Bool}
-- {user_ids} {feature_ids: Array(String)}, empty: all.
-- Gives (user_id, credit_id, day UInt32 s, 0 unless daily; consumed, decimal text). Reads credit_ledger along its key.
SELECT
  user_id, credit_id, if({daily:Bool}, toUnixTimestamp(toStartOfDay(event_at)), 0) AS day,
  toString(sum(quantity_consumed)) AS consumed
FROM credit_ledger
WHERE environment_id = {environment_id:String} AND company_id = {company_id:String}
  AND usage_reason = 'track'
  AND (empty({user_ids:Array(String)}) OR user_id IN {user_ids:Array(String)})
  AND (empty({feature_ids:Array(String)}) OR feature_id IN {feature_ids:Array(String)})
  AND event_at >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC')
  AND event_at < fromUnixTimestamp64Milli({to_ms:Int64}, 'UTC')
GROUP BY user_id, credit_id, day
ORDER BY day, sum(quantity_consumed) DESC, user_id, credit_id
