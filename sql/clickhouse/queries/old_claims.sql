-- First events with some idempotency keys among those received in a span, in any environment (EV-25).
-- Takes {from_ms: Int64} {to_ms: Int64, exclusive} {keys: Array(String)}
-- Gives (environment_id, idempotency_key, id, captured_at_ms, loaded_at_ms, print); several rows where a key was free again.
-- Reads event_claims along its key, and of that the granules whose index may have a key.
SELECT
  environment_id,
  idempotency_key,
  id,
  toUnixTimestamp64Milli(captured_at) AS captured_at_ms,
  toUnixTimestamp64Milli(loaded_at) AS loaded_at_ms,
  print
FROM event_claims
WHERE loaded_at >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC')
  AND loaded_at < fromUnixTimestamp64Milli({to_ms:Int64}, 'UTC')
  AND idempotency_key IN {keys:Array(String)}
