-- Events newest first, for GET /events (EV-72).
-- Takes {environment_id: String} {since_ms: Int64} and, empty for any: {company_id} {user_id} {subtype} {flag_id}
-- {idempotency_key} {status: String}, keys of secret and of publishable keys; {until_ms: Int64, exclusive};
-- {least} {most: Int64, of the quantity}; {types: Array(String)} {limit} {offset: UInt64}; of checks, empty for any:
-- {flag_key} {reason: String} {value: String, true or false}.
-- Gives whole rows. Finds them by their sorting key first, reading a body only for value or reason: along (environment_id, company_id,
-- captured_at) with a company, else captured_at of the months since since_ms.
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
  AND ({company_id:String} = '' OR company_id = {company_id:String})
  AND captured_at >= fromUnixTimestamp64Milli({since_ms:Int64}, 'UTC')
  AND (company_id, captured_at, id) IN (
    SELECT company_id, captured_at, id
    FROM events
    WHERE environment_id = {environment_id:String}
      AND ({company_id:String} = '' OR company_id = {company_id:String})
      AND captured_at >= fromUnixTimestamp64Milli({since_ms:Int64}, 'UTC')
      AND captured_at < fromUnixTimestamp64Milli({until_ms:Int64}, 'UTC')
      AND type IN {types:Array(String)}
      AND ({status:String} = '' OR status = {status:String})
      AND events.quantity >= {least:Int64} AND events.quantity <= {most:Int64}
      AND ({user_id:String} = '' OR user_id = {user_id:String})
      AND ({subtype:String} = '' OR subtype = {subtype:String})
      AND ({flag_id:String} = '' OR flag_id = {flag_id:String})
      AND ({flag_key:String} = '' OR (type = 'flag_check' AND subtype = {flag_key:String}))
      AND ({value:String} = '' OR (type = 'flag_check' AND JSONExtractBool(body, 'value') = ({value:String} = 'true')))
      AND ({reason:String} = '' OR (type = 'flag_check' AND JSONExtractString(body, 'reason') = {reason:String}))
      AND ({idempotency_key:String} = '' OR idempotency_key IN ({idempotency_key:String}, concat('\0', {idempotency_key:String})))
    ORDER BY captured_at DESC, id DESC
    LIMIT {limit:UInt64} OFFSET {offset:UInt64})
ORDER BY captured_at DESC, id DESC
