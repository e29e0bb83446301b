-- Idempotency keys by first receipt, oldest first: the window as the projected part of the journals knows it
-- (EV-25, EV-26). Takes {after_ms: Int64} {after_id: String}, the last one had, and {limit: UInt64}.
-- Gives (hash, environment, marked, print, id, captured_at_ms, loaded_at_ms), each of one length: the claim as
-- src/entities/idempotency/dedupe.ts packs it, its name hashed as it does there. Reads event_claims along its key.
SELECT
  toFixedString(substring(SHA256(concat(environment_id, '\0', idempotency_key)), 1, 10), 10) AS hash,
  toFixedString(substring(SHA256(environment_id), 1, 4), 4) AS environment,
  startsWith(idempotency_key, '\0') AS marked,
  print,
  toFixedString(id, 15) AS event_id,
  toUnixTimestamp64Milli(captured_at) AS captured_at_ms,
  toUnixTimestamp64Milli(loaded_at) AS loaded_at_ms
FROM event_claims
WHERE loaded_at >= fromUnixTimestamp64Milli({after_ms:Int64}, 'UTC')
  AND (loaded_at, id) > (fromUnixTimestamp64Milli({after_ms:Int64}, 'UTC'), {after_id:String})
ORDER BY event_claims.loaded_at, event_claims.id
LIMIT {limit:UInt64}
