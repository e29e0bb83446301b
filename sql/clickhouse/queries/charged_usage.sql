-- Usage of one company between given instants, of the events received before others, for charge lines (RA-8, RA-10).
-- Takes {environment_id} {company_id: String} {subtypes: Array(String)}, {bounds_ms: Array(Int64)} ascending, the first
-- inclusive, the last exclusive, {received_ms: Array(Int64)}: cut-offs of receipt, exclusive.
-- Gives (subtype, received_ms Int64, start_ms Int64, quantity as text, events UInt64, first_id, last_id), one row for each
-- interval and cut-off with events, ascending. Backfill never becomes money.
-- Reads events along their key.
SELECT
  subtype, received_ms, start_ms, toString(sum(piece.quantity)) AS quantity, count() AS events,
  argMin(id, (captured_at, id)) AS first_id, argMax(id, (captured_at, id)) AS last_id
FROM (
  SELECT
    subtype, id, captured_at, loaded_at, quantity,
    roundDown(toUnixTimestamp64Milli(captured_at), {bounds_ms:Array(Int64)}) AS start_ms
  FROM events
  WHERE environment_id = {environment_id:String} AND company_id = {company_id:String}
    AND subtype IN {subtypes:Array(String)} AND type = 'track' AND status != 'failed' AND mode != 'backfill'
    AND captured_at >= fromUnixTimestamp64Milli({bounds_ms:Array(Int64)}[1], 'UTC')
    AND captured_at < fromUnixTimestamp64Milli({bounds_ms:Array(Int64)}[-1], 'UTC')
) AS piece
ARRAY JOIN {received_ms:Array(Int64)} AS received_ms
WHERE loaded_at < fromUnixTimestamp64Milli(received_ms, 'UTC')
GROUP BY subtype, received_ms, start_ms
ORDER BY subtype, received_ms, start_ms
