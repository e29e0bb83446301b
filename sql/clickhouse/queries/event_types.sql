-- Event names of an environment with their counts, for GET /event-types and features' summaries.
-- Takes {environment_id: String}, {subtypes: Array(String)} (empty: all), {q: String} part of the name in any case,
-- {limit} {offset: UInt64}. Gives (subtype, events, companies, users, last_ms), by name. Reads event_types along its key.
SELECT
  subtype, sum(event_types.events) AS events, uniqCombined64Merge(event_types.companies) AS companies,
  uniqCombined64Merge(event_types.users) AS users, toUnixTimestamp64Milli(max(event_types.last)) AS last_ms
FROM event_types
WHERE environment_id = {environment_id:String}
  AND (empty({subtypes:Array(String)}) OR subtype IN {subtypes:Array(String)})
  AND positionCaseInsensitiveUTF8(subtype, {q:String}) > 0
GROUP BY subtype
ORDER BY subtype
LIMIT {limit:UInt64} OFFSET {offset:UInt64}
