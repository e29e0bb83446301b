-- Ledger entries of one company, latest first, for GET /v2/billing/credits/ledger (CR-91).
-- Takes {environment_id} {company_id: String} and, empty for any: {credit_id} {event_type} {feature_id: String};
-- {from_ms} {to_ms: Int64, exclusive} {limit} {offset: UInt64}. Gives whole rows, decimals as text, times in ms.
-- Reads credit_ledger along its key.
SELECT
  credit_id, sequence, event_type, usage_reason,
  toUnixTimestamp64Milli(event_at) AS event_at_ms,
  toString(amount) AS amount, toString(quantity_consumed) AS quantity_consumed,
  grant_id, toString(grant_quantity_remaining) AS grant_quantity_remaining,
  from_grant_id, to_grant_id, transfer_reason, zeroed_out_reason,
  feature_id, user_id, usage_event_id, hold_id,
  grant_reason, toString(grant_quantity) AS grant_quantity,
  toUnixTimestamp64Milli(grant_valid_from) AS grant_valid_from_ms,
  toUnixTimestamp64Milli(grant_expires_at) AS grant_expires_at_ms,
  plan_id, plan_grant_id, billing_credit_bundle_id, source_grant_id
FROM credit_ledger
WHERE environment_id = {environment_id:String} AND company_id = {company_id:String}
  AND ({credit_id:String} = '' OR credit_id = {credit_id:String})
  AND ({event_type:String} = '' OR event_type = {event_type:String})
  AND ({feature_id:String} = '' OR feature_id = {feature_id:String})
  AND event_at >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC')
  AND event_at < fromUnixTimestamp64Milli({to_ms:Int64}, 'UTC')
ORDER BY event_at DESC, credit_id, sequence DESC
LIMIT {limit:UInt64} OFFSET {offset:UInt64}
