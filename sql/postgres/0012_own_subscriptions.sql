-- Subscriptions that the service bills itself: how their periods renew, and what is agreed for later. See
-- src/api/billing-records.ts for the members.
alter table billing_subscriptions add column own jsonb;

-- The request that waits for its payment (PB-60).
alter table custom_plan_billings add column request jsonb;
