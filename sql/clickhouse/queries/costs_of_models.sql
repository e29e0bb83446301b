-- costs.sql with models: by model or of one model, for GET /costs (BU-7).
-- Takes {environment_id: String} {from_ms} {to_ms: Int64, exclusive} and, absent for any: {company_id} {user_id} {model: String};
-- {by_company} {by_model} {by_user} {by_day: Bool}: members that rows are made of; {limit: UInt64}.
-- Gives (company_id, model, user_id, day UInt32 s, currency, cost as text, credit_id, credits as text, events UInt64): one row
-- for each currency of costs and for each credit. An event made from an inference event counts its credits for the same model.
-- Reads the inference events of the window, the events made from them, and the ledger of the window.
WITH inferences AS (
  SELECT id, company_id, user_id, captured_at, JSONExtractString(body, 'response_model') AS model, cost, currency
  FROM events
  WHERE environment_id = {environment_id:String} AND type = 'inference' AND status != 'failed'
    AND captured_at >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC')
    AND captured_at < fromUnixTimestamp64Milli({to_ms:Int64}, 'UTC')
    AND company_id = {company_id:String}
),
models AS (
  SELECT id, model FROM inferences
  UNION ALL
  SELECT made.id, parent.model
  FROM (
    SELECT id, derived_from FROM events
    WHERE environment_id = {environment_id:String} AND type = 'track' AND derived_from != ''
      AND captured_at >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC')
      AND captured_at < fromUnixTimestamp64Milli({to_ms:Int64}, 'UTC')
      AND company_id = {company_id:String}
  ) AS made
  INNER JOIN inferences AS parent ON parent.id = made.derived_from
)
SELECT
  if({by_company:Bool}, part.company_id, '') AS company_id,
  if({by_model:Bool}, part.model, '') AS model,
  if({by_user:Bool}, part.user_id, '') AS user_id,
  if({by_day:Bool}, toUInt32(toUnixTimestamp(toStartOfDay(part.at))), toUInt32(0)) AS day,
  part.currency AS currency, toString(sum(part.cost)) AS cost,
  part.credit_id AS credit_id, toString(sum(part.credits)) AS credits, toUInt64(sum(part.events)) AS events
FROM
(
  SELECT
    company_id, model, user_id, captured_at AS at, currency, toDecimal128(ifNull(cost, 0), 12) AS cost, '' AS credit_id,
    toDecimal128(0, 9) AS credits, toUInt64(1) AS events
  FROM inferences
  UNION ALL
  SELECT
    ledger.company_id, models.model, ledger.user_id, ledger.event_at, '', toDecimal128(0, 12), toString(ledger.credit_id),
    toDecimal128(ledger.quantity_consumed, 9), toUInt64(0)
  FROM (
    SELECT company_id, user_id, event_at, credit_id, quantity_consumed, usage_event_id FROM credit_ledger
    WHERE environment_id = {environment_id:String} AND usage_reason = 'track'
      AND event_at >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC')
      AND event_at < fromUnixTimestamp64Milli({to_ms:Int64}, 'UTC')
      AND company_id = {company_id:String}
  ) AS ledger
  LEFT JOIN models ON models.id = ledger.usage_event_id
) AS part
WHERE true
  AND part.user_id = {user_id:String}
  AND part.model = {model:String}
GROUP BY company_id, model, user_id, day, currency, credit_id
ORDER BY day DESC, company_id, model, user_id, currency, credit_id
LIMIT {limit:UInt64}
