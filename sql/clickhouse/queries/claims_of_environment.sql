-- Idempotency keys of one environment by first receipt, oldest first, as event_claims.sql gives them, for a test clock that
-- stands behind: event_claims forgets them two days later, whatever the environment's time is (EV-26).
-- Takes {environment_id: String} {until_ms: Int64, inclusive} {after_ms: Int64} {after_id: String}, the last one had, and
-- {limit: UInt64}. Reads events along their key, all of the environment.
SELECT
  toFixedString(substring(SHA256(concat(environment_id, '\0', idempotency_key)), 1, 10), 10) AS hash,
  toFixedString(substring(SHA256(environment_id), 1, 4), 4) AS environment,
  startsWith(idempotency_key, '\0') AS marked,
  toUInt16(greatest(1, bitAnd(CRC32(concat(type, '\0', subtype, '\0', toString(quantity), '\0',
    if(type IN ('track', 'inference'), substring(company_id, 6), ''))), 65535))) AS print,
  toFixedString(id, 15) AS event_id,
  toUnixTimestamp64Milli(captured_at) AS captured_at_ms,
  toUnixTimestamp64Milli(loaded_at) AS loaded_at_ms
FROM events
WHERE environment_id = {environment_id:String}
  AND idempotency_key != '' AND status != 'failed' AND derived_from = ''
  AND loaded_at >= fromUnixTimestamp64Milli({after_ms:Int64}, 'UTC')
  AND loaded_at <= fromUnixTimestamp64Milli({until_ms:Int64}, 'UTC')
  AND (loaded_at, id) > (fromUnixTimestamp64Milli({after_ms:Int64}, 'UTC'), {after_id:String})
ORDER BY events.loaded_at, events.id
LIMIT {limit:UInt64}
