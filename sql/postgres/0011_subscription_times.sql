-- The day and time on which a provider's subscription is billed, and the time of the provider's last message about it.

alter table billing_subscriptions
  add column billing_cycle_anchor bigint,
  add column provider_event_at timestamptz;
