-- Who may ask, and where: accounts, their environments, keys and members (AL-1…14).
create table accounts (
  id text primary key,
  name text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table environments (
  id text primary key,
  account_id text not null references accounts on delete cascade,
  name text not null,
  environment_type text not null check (environment_type in ('development', 'production', 'staging')),
  require_context_signature boolean not null default false,
  -- Raised by every transaction that changes a definition the environment sees.
  catalog_version bigint not null default 1,
  -- The test clock (decisions 10, 11): an offset that ticks on, or an instant that stands still; both null without one.
  clock_offset_ms bigint,
  clock_frozen_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (clock_offset_ms is null or clock_frozen_at is null)
);
create index environments_of_account on environments (account_id, created_at, id);

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
  -- HMAC-SHA-256 of the value under the server's pepper; a secret key's value is stored nowhere (AL-2).
  secret_hash bytea not null unique,
  -- The value of a publishable key, which is no secret (decision 13).
  publishable_value text,
  bootstrap boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  last_used_at timestamptz,
  check ((kind = 'publishable') = (publishable_value is not null))
);
create index api_keys_of_account on api_keys (account_id, created_at desc, id desc);
create index api_keys_of_environment on api_keys (environment_id);
create unique index one_bootstrap_key on api_keys (account_id) where bootstrap;

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
