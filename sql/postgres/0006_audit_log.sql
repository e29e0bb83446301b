-- Who changed what, and when (GET /audit-log). Rows outlive the key and the environment they name.
create table audit_logs (
  id uuid primary key,
  -- Orders what began in the same millisecond.
  n bigint generated always as identity,
  account_id text not null references accounts on delete cascade,
  environment_id text,
  actor_type text not null,
  api_key_id text,
  method text not null,
  url text not null,
  resource_type text,
  resource_id text,
  resource_name text,
  secondary_resource text,
  -- Bounded, secrets taken out.
  req_body text,
  resp_body text,
  resp_code integer not null,
  started_at timestamptz not null,
  ended_at timestamptz not null
);
create index audit_logs_of_account on audit_logs (account_id, started_at desc, n desc);
