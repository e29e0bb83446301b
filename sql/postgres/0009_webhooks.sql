-- Webhooks out, and their deliveries: the rows are the queue, so that a restart goes on where it was.
create table webhooks (
  id text primary key,
  account_id text not null references accounts on delete cascade,
  environment_id text not null references environments on delete cascade,
  name text not null,
  url text not null,
  -- Signs deliveries, so it is kept as it is.
  secret text not null,
  status text not null check (status in ('active', 'inactive')),
  request_types jsonb not null,
  -- Lists of {credit_id} and {feature_id} that narrow notices of limits; null or empty: all.
  credit_trigger_configs jsonb,
  entitlement_trigger_configs jsonb,
  -- Failures before it do not count towards deactivation.
  active_since timestamptz not null,
  -- Overrides that ended by then, in the environment's time, have been told of.
  expiries_told_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index webhooks_of_environment on webhooks (environment_id, created_at desc, id desc);

create table webhook_events (
  id text primary key,
  webhook_id text not null references webhooks on delete cascade,
  environment_id text not null,
  request_type text not null,
  payload text not null,
  status text not null check (status in ('failure', 'pending', 'success')),
  attempt_count integer not null default 0,
  -- Of the last attempt; null where nobody answered.
  response_code integer,
  sent_at timestamptz,
  -- Of pending ones.
  next_attempt_at timestamptz not null,
  -- Sent by POST /webhooks/{id}/test: says nothing about the endpoint's health.
  test boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index webhook_events_due on webhook_events (next_attempt_at) where status = 'pending';
create index webhook_events_newest on webhook_events (environment_id, created_at desc, id desc);
create index webhook_events_of_webhook on webhook_events (webhook_id, sent_at desc);
