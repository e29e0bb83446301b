-- Costs of use and the credits it burned, for GET /costs (BU-7) where no model is asked for: costs_of_models.sql reads the events
-- twice more, to say which model a draw of credits belongs to.
-- Takes {environment_id: String} {from_ms} {to_ms: Int64, exclusive} and, absent for any: {company_id} {user_id: String};
-- {by_company} {by_user} {by_day: Bool}: members that rows are made of; {limit: UInt64}.
-- Gives (company_id, model '', user_id, day UInt32 s, currency, cost as text, credit_id, credits as text, events UInt64): one row
-- for each currency of costs and for each credit. Reads the inference events and the ledger of the window.
SELECT
  if({by_company:Bool}, part.company_id, '') AS company_id,
  '' AS model,
  if({by_user:Bool}, part.user_id, '') AS user_id,
  if({by_day:Bool}, toUInt32(toUnixTimestamp(toStartOfDay(part.at))), toUInt32(0)) AS day,
  part.currency AS currency, toString(sum(part.cost)) AS cost,
  part.credit_id AS credit_id, toString(sum(part.credits)) AS credits, toUInt64(sum(part.events)) AS events
FROM
(
  SELECT
    company_id, user_id, captured_at AS at, toString(currency) AS currency, toDecimal128(ifNull(events.cost, 0), 12) AS cost,
    '' AS credit_id, toDecimal128(0, 9) AS credits, toUInt64(1) AS events
  FROM events
  WHERE environment_id = {environment_id:String} AND type = 'inference' AND status != 'failed'
    AND captured_at >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC')
    AND captured_at < fromUnixTimestamp64Milli({to_ms:Int64}, 'UTC')
    AND company_id = {company_id:String}
    AND user_id = {user_id:String}
  UNION ALL
  SELECT
    company_id, user_id, event_at AS at, '' AS currency, toDecimal128(0, 12) AS cost,
    toString(credit_ledger.credit_id) AS credit_id, toDecimal128(quantity_consumed, 9) AS credits, toUInt64(0) AS events
  FROM credit_ledger
  WHERE environment_id = {environment_id:String} AND usage_reason = 'track'
    AND event_at >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC')
    AND event_at < fromUnixTimestamp64Milli({to_ms:Int64}, 'UTC')
    AND company_id = {company_id:String}
    AND user_id = {user_id:String}
) AS part
GROUP BY company_id, model, user_id, day, currency, credit_id
ORDER BY day DESC, company_id, user_id, currency, credit_id
LIMIT {limit:UInt64}
