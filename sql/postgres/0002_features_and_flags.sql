-- Features, their licences, flags and rules, and the trait definitions that rules name. Features and flags belong to
-- the account; rules belong to a flag in one environment, because their conditions name companies, users and traits of
-- that environment (PB-1).

-- Traits known in an environment. The projector also writes them, at first sight of a trait (CU-30). No reference to
-- environments: a late write for a deleted environment must not stop the projector.
create table trait_definitions (
  id text primary key,
  environment_id text not null,
  entity_type text not null check (entity_type in ('company', 'user')),
  -- The hierarchy joined by ".".
  name text not null,
  hierarchy jsonb not null,
  trait_type text not null check (trait_type in ('boolean', 'currency', 'date', 'number', 'string', 'url')),
  -- Empty: shown as the name.
  display_name text not null default '',
  -- Traits that publishable keys write decide flags.
  publishable_writes boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (environment_id, entity_type, name)
);
create index trait_definitions_newest on trait_definitions (environment_id, created_at desc, id desc);

-- Features that plans grant: on or off, counted by events, limited by licences or by a trait.
create table features (
  id text primary key,
  account_id text not null references accounts on delete cascade,
  name text not null,
  description text not null,
  icon text not null default '',
  feature_type text not null check (feature_type in ('boolean', 'event', 'license', 'trait')),
  event_source text not null default 'track' check (event_source in ('inference', 'track')),
  event_subtype text,
  -- Hierarchy of the company trait that carries the usage; its definition's id differs by environment.
  trait_hierarchy jsonb,
  -- Hierarchy of the company trait that carries the pay-in-advance quantity (EN-2, EN-71).
  usage_limit_trait_hierarchy jsonb,
  lifecycle_phase text,
  maintainer_account_member_id text references account_members on delete set null,
  plural_name text,
  singular_name text,
  managed_by text not null default 'native' check (managed_by in ('ext_a', 'ext_b', 'native', 'psp')),
  external_resource_id text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index features_of_account on features (account_id, created_at desc, id desc);
create unique index features_by_resource on features (account_id, managed_by, external_resource_id)
  where external_resource_id is not null;

-- The licence of a feature of type license: its units are assigned to users.
create table licenses (
  id text primary key,
  account_id text not null references accounts on delete cascade,
  feature_id text not null unique references features on delete cascade,
  name text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index licenses_of_account on licenses (account_id, created_at desc, id desc);

-- Flags that callers check; at most one of each feature.
create table flags (
  id text primary key,
  account_id text not null references accounts on delete cascade,
  key text not null,
  name text not null,
  description text not null,
  flag_type text not null default 'boolean' check (flag_type = 'boolean'),
  default_value boolean not null,
  -- At most one flag per feature (EN-1); without its feature a flag goes on by itself.
  feature_id text unique references features on delete set null,
  maintainer_account_member_id text references account_members on delete set null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (account_id, key)
);
create index flags_of_account on flags (account_id, created_at desc, id desc);

-- Rules of a flag in one environment, in order of evaluation (FE-12).
create table rules (
  id text primary key,
  flag_id text not null references flags on delete cascade,
  environment_id text not null references environments on delete cascade,
  name text not null,
  rule_type text not null check (rule_type in ('default', 'global_override', 'standard')),
  priority bigint not null,
  value boolean not null,
  -- Place in the list as written: equal priorities keep it (FE-12).
  position integer not null,
  -- Conditions as the wire spells them, each with its id and times; groups as {id, conditions, times}.
  conditions jsonb not null,
  condition_groups jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index rules_of_flag on rules (environment_id, flag_id, position);

-- When a flag was last checked, per environment (FE-102).
create table flag_last_checks (
  environment_id text not null,
  flag_id text not null references flags on delete cascade,
  last_checked_at timestamptz not null,
  primary key (environment_id, flag_id)
);
