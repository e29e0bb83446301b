-- Checks that answered false, for GET /denied-checks: most first, by minute the newest first.
-- Takes {environment_id: String} {from} {to: UInt32 s, exclusive} and, empty for any: {flag_key} {company_id} {reason: String};
-- {by_flag} {by_reason} {by_company} {by_minute: Bool}: what rows are made of; {limit} {offset: UInt64}.
-- Gives (flag_key, reason, company_id, minute UInt32 s, checks UInt64). Reads flag_checks of the months.
SELECT
  if({by_flag:Bool}, flag_checks.flag_key, '') AS flag_key,
  if({by_reason:Bool}, flag_checks.reason, '') AS reason,
  if({by_company:Bool}, flag_checks.company_id, '') AS company_id,
  if({by_minute:Bool}, toUInt32(toUnixTimestamp(flag_checks.minute)), toUInt32(0)) AS minute,
  toUInt64(sum(flag_checks.checks)) AS checks
FROM flag_checks
WHERE environment_id = {environment_id:String} AND NOT value
  AND flag_checks.minute >= toDateTime({from:UInt32}, 'UTC') AND flag_checks.minute < toDateTime({to:UInt32}, 'UTC')
  AND ({flag_key:String} = '' OR flag_checks.flag_key = {flag_key:String})
  AND ({reason:String} = '' OR flag_checks.reason = {reason:String})
  AND ({company_id:String} = '' OR flag_checks.company_id = {company_id:String})
GROUP BY flag_key, reason, company_id, minute
ORDER BY minute DESC, checks DESC, flag_key, company_id
LIMIT {limit:UInt64} OFFSET {offset:UInt64}
