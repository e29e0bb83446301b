-- Usage of each event name by day, over all companies, for GET /usage-by-day.
-- Takes {environment_id: String} {subtypes: Array(String)} {from} {to: UInt32 s, exclusive, whole hours}.
-- Gives (subtype, day UInt32 s, quantity Int64 as text), ascending; days without usage are absent.
-- Reads usage_by_hour of the months, never the events.
SELECT subtype, toUInt32(toUnixTimestamp(toStartOfDay(hour))) AS day, toString(sum(usage_by_hour.quantity)) AS quantity
FROM usage_by_hour
WHERE environment_id = {environment_id:String} AND subtype IN {subtypes:Array(String)}
  AND hour >= toDateTime({from:UInt32}, 'UTC') AND hour < toDateTime({to:UInt32}, 'UTC')
GROUP BY subtype, day
ORDER BY subtype, day
