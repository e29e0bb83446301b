-- How a company pays, as its billing profile says, and since when a subscription is overdue.

alter table company_billing_profiles
  add column payment_gating text not null default 'keep_serving' check (payment_gating in ('keep_serving', 'revoke_after')),
  -- Days of a payment that is overdue after which what was paid for is revoked.
  add column gating_days integer not null default 0,
  add column collector text check (collector in ('external', 'psp_invoice', 'psp_payments')),
  add column currency text,
  -- Credits that the balance may fall below zero, where a plan lets it fall at all.
  add column overdraft_limit bigint,
  add column purchase_order text;

-- Set while the status is past_due; gated_at: from then on the subscription gives no access.
alter table billing_subscriptions
  add column overdue_since timestamptz,
  add column gated_at timestamptz;
