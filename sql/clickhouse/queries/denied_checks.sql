-- Checks that answered false, for GET /denied-checks: most first, by minute the newest first.
-- Takes {environment_id: String} {from} {to: UInt32 s, exclusive} and, empty for any: {flag_key} {company_id} {reason: String};
-- {by_flag} {by_reason} {by_company} {by_minute: Bool}: what rows are made of; {limit} {offset: UInt64}.
-- Gives (flag_key, reason, company_id, minute UInt32 s, checks UInt64, recorded UInt64): the number of checks, and the number
-- kept as single records. Reads flag_checks and the checks among events of the months.
SELECT
  if({by_flag:Bool}, all_checks.flag_key, '') AS flag_key,
  if({by_reason:Bool}, all_checks.reason, '') AS reason,
  if({by_company:Bool}, all_checks.company_id, '') AS company_id,
  if({by_minute:Bool}, toUInt32(toUnixTimestamp(all_checks.minute)), toUInt32(0)) AS minute,
  toUInt64(sum(all_checks.checks)) AS checks,
  toUInt64(sum(all_checks.recorded)) AS recorded
FROM
(
  SELECT flag_key, reason, company_id, minute, checks, toUInt64(0) AS recorded
  FROM flag_checks
  WHERE environment_id = {environment_id:String} AND NOT value
    AND minute >= toDateTime({from:UInt32}, 'UTC') AND minute < toDateTime({to:UInt32}, 'UTC')
    AND ({flag_key:String} = '' OR flag_key = {flag_key:String})
    AND ({reason:String} = '' OR reason = {reason:String})
    AND ({company_id:String} = '' OR company_id = {company_id:String})
  UNION ALL
  SELECT subtype, JSONExtractString(body, 'reason'), company_id, toStartOfMinute(captured_at), toUInt64(0), toUInt64(1)
  FROM events
  WHERE environment_id = {environment_id:String} AND type = 'flag_check' AND status != 'failed'
    AND captured_at >= toDateTime64({from:UInt32}, 3, 'UTC') AND captured_at < toDateTime64({to:UInt32}, 3, 'UTC')
    AND NOT JSONExtractBool(body, 'value')
    AND ({flag_key:String} = '' OR subtype = {flag_key:String})
    AND ({reason:String} = '' OR JSONExtractString(body, 'reason') = {reason:String})
    AND ({company_id:String} = '' OR company_id = {company_id:String})
) AS all_checks
GROUP BY flag_key, reason, company_id, minute
ORDER BY minute DESC, checks DESC, flag_key, company_id
LIMIT {limit:UInt64} OFFSET {offset:UInt64}
