-- Usage per user and event of one company in a window, for GET /user-usage-by-company and its detail (US-30, US-35).
-- Takes {environment_id} {company_id: String} {subtypes: Array(String)} {from_ms} {to_ms: Int64, exclusive}
-- {whole_from} {whole_to: UInt32}: the whole hours inside, s; {daily: Bool}: a row per UTC day, else one;
-- {user_ids: Array(String)}, empty: all, and usage without a user.
-- Gives (user_id, empty without a user; subtype; day UInt32 s, 0 unless daily; quantity Int64 as text; last_ms Int64).
-- Reads usage_by_user_hour along its key, events for the hours the window cuts.
SELECT user_id, subtype, day, toString(sum(piece.quantity)) AS quantity, toUnixTimestamp64Milli(max(piece.last)) AS last_ms
FROM (
  SELECT
    user_id, subtype, if({daily:Bool}, toUnixTimestamp(toStartOfDay(hour)), 0) AS day, quantity, last
  FROM usage_by_user_hour
  WHERE environment_id = {environment_id:String} AND company_id = {company_id:String}
    AND (empty({user_ids:Array(String)}) OR user_id IN {user_ids:Array(String)})
    AND subtype IN {subtypes:Array(String)}
    AND hour >= toDateTime({whole_from:UInt32}, 'UTC') AND hour < toDateTime({whole_to:UInt32}, 'UTC')
  UNION ALL
  SELECT
    user_id, subtype, if({daily:Bool}, toUnixTimestamp(toStartOfDay(captured_at)), 0) AS day, quantity,
    captured_at AS last
  FROM events
  WHERE environment_id = {environment_id:String} AND company_id = {company_id:String}
    AND (empty({user_ids:Array(String)}) OR user_id IN {user_ids:Array(String)})
    AND subtype IN {subtypes:Array(String)} AND type = 'track' AND status != 'failed'
    AND captured_at >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC')
    AND captured_at < fromUnixTimestamp64Milli({to_ms:Int64}, 'UTC')
    AND NOT (captured_at >= toDateTime({whole_from:UInt32}, 'UTC')
      AND captured_at < toDateTime({whole_to:UInt32}, 'UTC'))
) AS piece
GROUP BY user_id, subtype, day
ORDER BY day, sum(piece.quantity) DESC, user_id, subtype
