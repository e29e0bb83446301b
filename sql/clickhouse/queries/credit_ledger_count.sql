-- How many entries credit_ledger_list.sql has; takes the same but for the page. Gives one row (entries UInt64).
SELECT count() AS entries
FROM credit_ledger
WHERE environment_id = {environment_id:String} AND company_id = {company_id:String}
  AND ({credit_id:String} = '' OR credit_id = {credit_id:String})
  AND ({event_type:String} = '' OR event_type = {event_type:String})
  AND ({feature_id:String} = '' OR feature_id = {feature_id:String})
  AND event_at >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC')
  AND event_at < fromUnixTimestamp64Milli({to_ms:Int64}, 'UTC')
