-- Use of a company as it was counted at an instant, for explanations (EX-6).
-- Takes {environment_id} {company_id: String} {subtypes: Array(String)} {at_ms: Int64}, the instant;
-- {cut: UInt32}, a whole hour in seconds at or before the begin of every window that counts then;
-- {bounds_ms: Array(Int64)}, begin and end of the billing cycle, ascending; empty: there is none.
-- Gives (subtype, from_ms Int64, quantity as text). A row lies at the hour or bound that begins it, use from before the cut
-- at 0. Only events received by the instant count, dated ahead or not.
-- Reads hours before the cut, the events since the cut, and earlier events that were received after the instant.
SELECT subtype, from_ms, toString(sum(part)) AS quantity
FROM (
  SELECT subtype, toInt64(0) AS from_ms, usage_by_hour.quantity AS part
  FROM usage_by_hour
  WHERE environment_id = {environment_id:String} AND company_id = {company_id:String}
    AND subtype IN {subtypes:Array(String)} AND hour < toDateTime({cut:UInt32}, 'UTC')
  UNION ALL
  SELECT subtype, toInt64(0), -events.quantity
  FROM events
  WHERE environment_id = {environment_id:String} AND company_id = {company_id:String}
    AND subtype IN {subtypes:Array(String)} AND type = 'track' AND status != 'failed'
    AND captured_at < toDateTime64({cut:UInt32}, 3, 'UTC')
    AND loaded_at > fromUnixTimestamp64Milli({at_ms:Int64}, 'UTC')
  UNION ALL
  SELECT
    subtype,
    arrayMax(arrayPushFront(
      arrayFilter(bound -> bound <= toUnixTimestamp64Milli(captured_at), {bounds_ms:Array(Int64)}),
      toInt64(toUnixTimestamp(toStartOfHour(captured_at))) * 1000)),
    events.quantity
  FROM events
  WHERE environment_id = {environment_id:String} AND company_id = {company_id:String}
    AND subtype IN {subtypes:Array(String)} AND type = 'track' AND status != 'failed'
    AND captured_at >= toDateTime64({cut:UInt32}, 3, 'UTC')
    AND loaded_at <= fromUnixTimestamp64Milli({at_ms:Int64}, 'UTC')
)
GROUP BY subtype, from_ms
ORDER BY subtype, from_ms
