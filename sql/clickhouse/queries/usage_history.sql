-- Usage per company, event and period, for GET /feature-usage-history (US-20…24).
-- Takes {environment_id: String}, {company_ids: Array(String)} (empty: all), {subtypes: Array(String)},
-- {bounds: Array(UInt32)} ascending whole hours (s), the first inclusive, the last exclusive; {limit} {offset: UInt64}.
-- Gives (company_id, subtype, period_start UInt32 s, quantity Int64 as text), a row only where there were events.
-- Reads usage_by_hour along its key.
SELECT
  company_id, subtype,
  roundDown(toUInt32(toUnixTimestamp(hour)), {bounds:Array(UInt32)}) AS period_start,
  toString(sum(usage_by_hour.quantity)) AS quantity
FROM usage_by_hour
WHERE environment_id = {environment_id:String}
  AND (empty({company_ids:Array(String)}) OR company_id IN {company_ids:Array(String)})
  AND subtype IN {subtypes:Array(String)}
  AND hour >= toDateTime({bounds:Array(UInt32)}[1], 'UTC') AND hour < toDateTime({bounds:Array(UInt32)}[-1], 'UTC')
GROUP BY company_id, subtype, period_start
ORDER BY period_start, company_id, subtype
LIMIT {limit:UInt64} OFFSET {offset:UInt64}
