-- A small print of what each event with an idempotency key said, as src/core/print.ts works it out; 0: not known.
ALTER TABLE event_claims ADD COLUMN print UInt16 DEFAULT 0;

ALTER TABLE event_claims_fold MODIFY QUERY
SELECT loaded_at, environment_id, idempotency_key, id, captured_at,
  toUInt16(greatest(1, bitAnd(CRC32(concat(
    type, '\0', subtype, '\0', toString(quantity), '\0', if(type IN ('track', 'inference'), substring(company_id, 6), ''))), 65535))) AS print
FROM events
WHERE idempotency_key != '' AND status != 'failed' AND derived_from = '';
