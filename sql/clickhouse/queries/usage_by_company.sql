-- The companies that used one event most in a window of whole hours.
-- Takes {environment_id} {subtype: String} {from} {to: UInt32 s, exclusive, whole hours} {limit} {offset: UInt64}.
-- Gives (company_id, quantity Int64 as text, last_ms Int64), most first. Reads usage_by_hour of the environment's months.
SELECT company_id, toString(sum(usage_by_hour.quantity)) AS quantity, toUnixTimestamp64Milli(max(last)) AS last_ms
FROM usage_by_hour
WHERE environment_id = {environment_id:String} AND subtype = {subtype:String}
  AND hour >= toDateTime({from:UInt32}, 'UTC') AND hour < toDateTime({to:UInt32}, 'UTC')
GROUP BY company_id
ORDER BY sum(usage_by_hour.quantity) DESC, company_id
LIMIT {limit:UInt64} OFFSET {offset:UInt64}
