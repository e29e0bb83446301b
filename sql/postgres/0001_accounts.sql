-- Accounts, their environments, API keys and members (AL-1 to AL-14), limits, prices of models and the audit log; and
-- what the installation knows of itself.

-- Substrings of any text (CU-60). The extension comes with Postgres; a role that may create in its database may add it.
create extension if not exists pg_trgm;

-- One customer of the installation: environments, features, flags and plans belong to it.
create table accounts (
  id text primary key,
  name text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

-- A separate world of companies, users and events within an account.
create table environments (
  id text primary key,
  account_id text not null references accounts on delete cascade,
  name text not null,
  environment_type text not null check (environment_type in ('development', 'production', 'staging')),
  require_context_signature boolean not null default false,
  -- Raised by every transaction that changes a definition the environment sees.
  catalog_version bigint not null default 1,
  -- The test clock (decisions 10, 11): an offset of a running clock, or a fixed instant; both null without one.
  clock_offset_ms bigint,
  clock_frozen_at timestamptz,
  -- Limits of publishable keys: members that were set. Null: the limits of environments of this type.
  publishable_limits jsonb,
  -- Signs contexts of publishable keys; the former secret is taken until its time is up.
  context_secret text,
  former_context_secret text,
  former_context_secret_until timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (clock_offset_ms is null or clock_frozen_at is null)
);
create index environments_of_account on environments (account_id, created_at, id);

-- API keys: hashes of their values, scopes and conditions.
create table api_keys (
  id text primary key,
  account_id text not null references accounts on delete cascade,
  -- Null: an account-wide key (AL-11).
  environment_id text references environments on delete cascade,
  name text not null,
  description text,
  kind text not null check (kind in ('secret', 'publishable')),
  scopes jsonb not null,
  readonly boolean not null default false,
  rate_limit_percent smallint check (rate_limit_percent between 1 and 99),
  -- HMAC-SHA-256 of the value under the server's pepper. The value of a secret key is stored nowhere (AL-2).
  secret_hash bytea not null unique,
  -- The value of a publishable key, which is no secret (decision 13).
  publishable_value text,
  bootstrap boolean not null default false,
  not_before timestamptz,
  expires_at timestamptz,
  disabled boolean not null default false,
  -- CIDR blocks as texts; null: any address.
  allowed_addresses jsonb,
  -- The end of the value, to tell keys apart in lists; null: not known yet.
  last_four text,
  -- The value before the last roll, and until when it is taken.
  previous_hash bytea unique,
  previous_until timestamptz,
  -- The pepper of the hashes; null: not known.
  pepper_id text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  last_used_at timestamptz,
  check ((kind = 'publishable') = (publishable_value is not null)),
  check ((previous_hash is null) = (previous_until is null))
);
create index api_keys_of_account on api_keys (account_id, created_at desc, id desc);
create index api_keys_of_environment on api_keys (environment_id);
create unique index one_bootstrap_key on api_keys (account_id) where bootstrap;

-- Raised by every transaction that changes what a running process holds of the keys. Uses of keys do not raise it.
create table key_version (n bigint not null);
insert into key_version (n) values (1);

create function count_key_change() returns trigger language plpgsql as $$
begin
  update key_version set n = n + 1;
  return null;
end
$$;

create trigger api_keys_changed
  after insert or delete or truncate or update of id, account_id, environment_id, name, description, kind, scopes,
    readonly, rate_limit_percent, secret_hash, bootstrap, not_before, expires_at, disabled, allowed_addresses,
    previous_hash, previous_until
  on api_keys for each statement execute function count_key_change();

-- Every value the first key ever had: one that was deleted or replaced opens nothing again.
create table bootstrap_values (
  secret_hash bytea primary key,
  account_id text not null references accounts on delete cascade,
  created_at timestamptz not null
);

-- People of an account. They maintain flags and features; the service does not log them in.
create table account_members (
  id text primary key,
  account_id text not null references accounts on delete cascade,
  email text,
  name text,
  first_name text,
  last_name text,
  image_url text,
  role text check (role in ('admin', 'member')),
  -- Environment id, or "account", to a list of permissions.
  permissions jsonb not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index account_members_of_account on account_members (account_id, created_at desc, id desc);

-- Request limits of single accounts, where they differ from the common ones.
-- limits: 'off', or buckets as {"global": [rate per second, burst], …}; a bucket not named keeps the common number.
create table account_limits (
  account_id text primary key references accounts on delete cascade,
  limits jsonb not null,
  updated_at timestamptz not null
);

-- Prices of inference models that an account added to the built-in table (decision 18, EV-62). Decimal texts, per
-- million tokens; per_request per request. The newest row at or before an event's time is its price.
create table model_prices (
  id text primary key,
  account_id text not null references accounts on delete cascade,
  provider text not null,
  model text not null,
  currency text not null,
  effective_at timestamptz not null,
  input text not null,
  cached_input text,
  cache_write text,
  output text not null,
  reasoning text,
  per_request text,
  created_at timestamptz not null,
  unique (account_id, provider, model, currency, effective_at)
);

-- The audit log (GET /audit-log): changes, reads of secrets and failed attempts, with a chain of hashes over the rows
-- in the order of `seq`. Rows outlive the key and the environment they name.
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
  ended_at timestamptz not null,
  kind text not null default 'change' check (kind in ('change', 'read', 'auth_failure', 'system')),
  remote_ip text,
  user_agent text,
  request_id text,
  -- False while the answer is not in the row yet.
  complete boolean not null default true,
  -- Place in the chain, 1, 2, 3 …; null until the row is in it.
  seq bigint,
  previous_hash text,
  hash text,
  check ((seq is null) = (hash is null) and (seq is null) = (previous_hash is null))
);
create index audit_logs_of_account on audit_logs (account_id, started_at desc, n desc);
-- The log grows without end: substrings of its texts are looked up by trigrams (CU-60).
create index audit_logs_text on audit_logs
  using gin (lower(url) gin_trgm_ops, lower(resource_name) gin_trgm_ops, lower(resource_id) gin_trgm_ops,
    lower(api_key_id) gin_trgm_ops);
create index audit_logs_of_environment on audit_logs (account_id, environment_id, started_at desc, n desc);
create unique index audit_logs_chain on audit_logs (seq);
create index audit_logs_unchained on audit_logs (n) where seq is null;

-- Values the installation knows of itself: the pepper and the members file it had last.
create table installation (
  name text primary key,
  value text not null,
  updated_at timestamptz not null
);

-- Counts the holders of this database: one that lost its lock learns whether another was here meanwhile.
create sequence holder_epoch;

-- Several nodes on one Postgres: names the journals that they keep in Redis. The first node writes it.
create table cluster (
  one boolean primary key default true check (one),
  generation text not null
);
