-- Companies that used any of some events since an hour, for the billing of those on the fallback plan alone (RA-25).
-- Takes {environment_id} {subtypes: Array(String)} {from: UInt32 s, whole hours} {after: String, exclusive} {limit: UInt64}.
-- Gives (company_id), ascending. Reads usage_by_hour along its key, the environment's months since then.
SELECT company_id
FROM usage_by_hour
WHERE environment_id = {environment_id:String} AND company_id > {after:String} AND subtype IN {subtypes:Array(String)}
  AND hour >= toDateTime({from:UInt32}, 'UTC')
GROUP BY company_id
ORDER BY company_id
LIMIT {limit:UInt64}
