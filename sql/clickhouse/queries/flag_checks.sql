-- Checks of flags and how many of them answered false, for GET /flag-checks: most first.
-- Takes {environment_id: String} {from} {to: UInt32 s, exclusive} {flag_key: String, empty for any} {by_reason: Bool}
-- {limit} {offset: UInt64}. Gives (flag_key, told String: the reason, empty unless rows are by reason; all_checks, denied UInt64).
-- Reads the sums of flag_checks alone, of the months.
SELECT
  flag_key,
  if({by_reason:Bool}, flag_checks.reason, '') AS told,
  toUInt64(sum(flag_checks.checks)) AS all_checks,
  toUInt64(sumIf(flag_checks.checks, NOT value)) AS denied
FROM flag_checks
WHERE environment_id = {environment_id:String}
  AND minute >= toDateTime({from:UInt32}, 'UTC') AND minute < toDateTime({to:UInt32}, 'UTC')
  AND ({flag_key:String} = '' OR flag_key = {flag_key:String})
GROUP BY flag_key, told
ORDER BY all_checks DESC, flag_key, told
LIMIT {limit:UInt64} OFFSET {offset:UInt64}
