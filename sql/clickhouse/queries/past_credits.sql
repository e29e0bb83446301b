-- Remaining credits of a company's grants at an instant, for explanations (EX-6).
-- Takes {environment_id} {company_id: String} {at_ms: Int64}, the instant.
-- Gives (credit_id, grant_id, remaining as text, external: draws that were only recorded). A use counts if its event had been
-- received by the instant, whatever its date; every other entry counts by its own time.
-- Reads the company's ledger, and the events that were dated on one side of the instant and received on the other.
SELECT
  credit_id, grant_id, toString(argMax(grant_quantity_remaining, sequence)) AS remaining, countIf(grant_id = '') AS external
FROM credit_ledger
WHERE environment_id = {environment_id:String} AND company_id = {company_id:String}
  AND (grant_quantity_remaining IS NOT NULL OR grant_id = '')
  AND if(
    event_at <= fromUnixTimestamp64Milli({at_ms:Int64}, 'UTC'),
    usage_event_id = '' OR usage_event_id NOT IN (
      SELECT id FROM events
      WHERE environment_id = {environment_id:String} AND company_id = {company_id:String}
        AND captured_at <= fromUnixTimestamp64Milli({at_ms:Int64}, 'UTC')
        AND loaded_at > fromUnixTimestamp64Milli({at_ms:Int64}, 'UTC')),
    usage_event_id IN (
      SELECT id FROM events
      WHERE environment_id = {environment_id:String} AND company_id = {company_id:String} AND id != ''
        AND captured_at > fromUnixTimestamp64Milli({at_ms:Int64}, 'UTC')
        AND captured_at <= fromUnixTimestamp64Milli({at_ms:Int64} + 600000, 'UTC')
        AND loaded_at <= fromUnixTimestamp64Milli({at_ms:Int64}, 'UTC')))
GROUP BY credit_id, grant_id
