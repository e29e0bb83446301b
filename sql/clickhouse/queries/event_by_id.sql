-- One event, for GET /events/{event_id} (EV-73).
-- Takes {environment_id: String} {id: String}. Gives at most one whole row. Reads the granules whose filter knows the id.
SELECT
  environment_id, id, type, subtype, company_id, user_id, toString(events.quantity) AS quantity, status, error_message, mode,
  toUnixTimestamp64Milli(captured_at) AS captured_at_ms,
  toUnixTimestamp64Milli(sent_at) AS sent_at_ms,
  toUnixTimestamp64Milli(loaded_at) AS loaded_at_ms,
  toUnixTimestamp64Milli(processed_at) AS processed_at_ms,
  api_key_id, idempotency_key, lease_id, reservation_id, feature_ids, flag_id, derived_from,
  toString(cost) AS cost, currency, price_id, body
FROM events
WHERE environment_id = {environment_id:String} AND id = {id:String}
LIMIT 1
