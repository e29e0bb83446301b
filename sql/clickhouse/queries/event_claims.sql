-- Idempotency keys by first receipt, oldest first: the window as the projected part of the journals knows it
-- (EV-25, EV-26). Takes {after_ms: Int64} {after_id: String}, the last one had, and {limit: UInt64}.
-- Gives (environment_id, idempotency_key, id, captured_at_ms, loaded_at_ms). Reads event_claims along its key.
SELECT
  environment_id, idempotency_key, id, toUnixTimestamp64Milli(captured_at) AS captured_at_ms,
  toUnixTimestamp64Milli(loaded_at) AS loaded_at_ms
FROM event_claims
WHERE loaded_at >= fromUnixTimestamp64Milli({after_ms:Int64}, 'UTC')
  AND (loaded_at, id) > (fromUnixTimestamp64Milli({after_ms:Int64}, 'UTC'), {after_id:String})
ORDER BY event_claims.loaded_at, event_claims.id
LIMIT {limit:UInt64}
