-- Companies that used a large part of a limit, for lists sorted by it: candidates, judged exactly afterwards.
-- Takes {environment_id: String}; {subtypes: Array(String)} {froms: Array(UInt32), s} {least: Array(String), of whole numbers}: event name, start
-- of the window and smallest limit of each kind of limit; {limit: UInt64}.
-- Gives (company_id), the largest part first. Reads usage_by_hour.
SELECT company_id FROM (
  SELECT company_id, limits.1 AS part_of, sum(usage_by_hour.quantity) / greatest(limits.3, 1) AS part
  FROM usage_by_hour
  ARRAY JOIN arrayZip({subtypes:Array(String)}, {froms:Array(UInt32)}, arrayMap(x -> toInt64(x), {least:Array(String)})) AS limits
  WHERE environment_id = {environment_id:String} AND subtype IN {subtypes:Array(String)}
    AND subtype = limits.1 AND hour >= toDateTime(limits.2, 'UTC')
  GROUP BY company_id, limits)
GROUP BY company_id
ORDER BY max(part) DESC, company_id
LIMIT {limit:UInt64}
