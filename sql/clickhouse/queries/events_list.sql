-- Events newest first, for GET /events (EV-72): of a company, or where few more than a page match.
-- Takes {environment_id: String} and, where given: {company_id} {user_id} {subtype} {flag_id} {status: String};
-- {idempotency_key: String}, of secret and of publishable keys; {since_ms} {until_ms: Int64, exclusive}; {least} {most: Int64,
-- of the quantity}; {types: Array(String)}; of checks: {flag_key} {reason: String} {value: String, true or false};
-- {limit} {offset: UInt64}. A line of a filter that is not given is left out.
-- Gives whole rows. With a company it reads backwards along (environment_id, company_id, captured_at, id) until the page is
-- full, else narrow columns since since_ms and all columns of granules with a match.
SELECT
  environment_id, id, type, subtype, company_id, user_id, toString(events.quantity) AS quantity, status, error_message, mode,
  toUnixTimestamp64Milli(captured_at) AS captured_at_ms,
  toUnixTimestamp64Milli(sent_at) AS sent_at_ms,
  toUnixTimestamp64Milli(loaded_at) AS loaded_at_ms,
  toUnixTimestamp64Milli(processed_at) AS processed_at_ms,
  api_key_id, idempotency_key, lease_id, reservation_id, feature_ids, flag_id, derived_from,
  toString(cost) AS cost, currency, price_id, body
FROM events
WHERE environment_id = {environment_id:String}
  AND company_id = {company_id:String}
  AND captured_at >= fromUnixTimestamp64Milli({since_ms:Int64}, 'UTC')
  AND captured_at < fromUnixTimestamp64Milli({until_ms:Int64}, 'UTC')
  AND type IN {types:Array(String)}
  AND status = {status:String}
  AND events.quantity >= {least:Int64}
  AND events.quantity <= {most:Int64}
  AND user_id = {user_id:String}
  AND subtype = {subtype:String}
  AND flag_id = {flag_id:String}
  AND type = 'flag_check' AND subtype = {flag_key:String}
  AND type = 'flag_check' AND JSONExtractBool(body, 'value') = ({value:String} = 'true')
  AND type = 'flag_check' AND JSONExtractString(body, 'reason') = {reason:String}
  AND idempotency_key IN ({idempotency_key:String}, concat('\0', {idempotency_key:String}))
ORDER BY captured_at DESC, id DESC
LIMIT {limit:UInt64} OFFSET {offset:UInt64}
