-- Credits per UTC day and feature of one company and credit (US-40), with the balance at the end of the day (CR-89).
-- Takes {environment_id} {company_id} {credit_id: String} {from} {to: UInt32 s, exclusive, whole days}.
-- Gives (day UInt32 s, feature_id, consumed, balance: decimal text), ascending; the balance is the day's, on each
-- of its rows. Days without entries are absent. Reads credit_usage_by_day along its key.
WITH totals AS (
  SELECT day, sum(sum(amount)) OVER (ORDER BY day) AS balance
  FROM credit_usage_by_day
  WHERE environment_id = {environment_id:String} AND company_id = {company_id:String}
    AND credit_id = {credit_id:String} AND day < toDate(toDateTime({to:UInt32}, 'UTC'), 'UTC')
  GROUP BY day
)
SELECT
  toUnixTimestamp(toDateTime(spent.day, 'UTC')) AS day, spent.feature_id AS feature_id,
  toString(spent.consumed) AS consumed, toString(totals.balance) AS balance
FROM (
  SELECT day, feature_id, sum(credit_usage_by_day.consumed) AS consumed
  FROM credit_usage_by_day
  WHERE environment_id = {environment_id:String} AND company_id = {company_id:String}
    AND credit_id = {credit_id:String}
    AND day >= toDate(toDateTime({from:UInt32}, 'UTC'), 'UTC') AND day < toDate(toDateTime({to:UInt32}, 'UTC'), 'UTC')
  GROUP BY day, feature_id
) AS spent
INNER JOIN totals ON totals.day = spent.day
ORDER BY day, feature_id
