-- Companies and users as lists and filters see them, written by the projector alone from the journal, and the
-- actors' snapshots, written by the shards. The live state is the actors'; these rows follow it.
--
-- Nothing here refers to another table or forbids a double: shards are projected side by side, so a pair that one
-- company gave up and another took may for a moment be listed under both, and a membership may outlive its company
-- until the next statement. The directory on the HTTP thread settles who owns what; reads of memberships join
-- companies and users. Ids of keys, traits, memberships and definitions are worked out from names (core/id.ts).

create table companies (
  id text primary key,
  environment_id text not null,
  name text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  last_seen_at timestamptz
);
create index companies_newest on companies (environment_id, created_at desc, id desc);
create index companies_by_name on companies (environment_id, name, id);
create index companies_last_seen on companies (environment_id, last_seen_at desc nulls last, id);

create table users (
  id text primary key,
  environment_id text not null,
  name text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  last_seen_at timestamptz
);
create index users_newest on users (environment_id, created_at desc, id desc);

-- Key names seen in an environment (made at first sight).
create table key_definitions (
  id text primary key,
  environment_id text not null,
  entity_type text not null check (entity_type in ('company', 'user')),
  key text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index key_definitions_newest on key_definitions (environment_id, created_at desc, id desc);

create table entity_keys (
  id text primary key,
  environment_id text not null,
  entity_type text not null,
  entity_id text not null,
  definition_id text not null,
  name text not null,
  value text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index entity_keys_of_entity on entity_keys (entity_id);
create index entity_keys_by_value on entity_keys (environment_id, entity_type, name, value);
create index entity_keys_of_definition on entity_keys (definition_id);

create table entity_traits (
  id text primary key,
  environment_id text not null,
  entity_type text not null,
  entity_id text not null,
  definition_id text not null,
  name text not null,
  value text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index entity_traits_of_entity on entity_traits (entity_id);
-- Values may be as long as a body: the index holds their beginning.
create index entity_traits_of_definition on entity_traits (definition_id, left(value, 200));

create table memberships (
  id text primary key,
  environment_id text not null,
  company_id text not null,
  user_id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index memberships_of_company on memberships (company_id, created_at desc, id desc);
create index memberships_of_user on memberships (user_id, created_at desc, id desc);
create index memberships_newest on memberships (environment_id, created_at desc, id desc);

-- `entitlement` is core's EntitlementDef as JSON.
create table company_overrides (
  id text primary key,
  environment_id text not null,
  company_id text not null,
  feature_id text not null,
  entitlement jsonb not null,
  expires_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index company_overrides_of_company on company_overrides (company_id);
create index company_overrides_of_feature on company_overrides (environment_id, feature_id);
create index company_overrides_newest on company_overrides (environment_id, created_at desc, id desc);

-- The base plan and the add-ons a company is on.
create table company_plans (
  company_id text not null,
  plan_id text not null,
  kind text not null check (kind in ('base', 'add_on')),
  environment_id text not null,
  version_id text not null,
  price_id text,
  added_at timestamptz not null,
  trial_end_at timestamptz,
  trial_end_setting text,
  trial_status text,
  primary key (company_id, kind, plan_id)
);
create index company_plans_of_plan on company_plans (environment_id, plan_id, version_id);

-- Subscriptions as core knows them; `state` is core's SubscriptionState as JSON.
create table company_subscriptions (
  id text primary key,
  environment_id text not null,
  company_id text not null,
  external_id text not null,
  status text not null,
  state jsonb not null,
  updated_at timestamptz not null
);
create index company_subscriptions_of_company on company_subscriptions (company_id);
create index company_subscriptions_by_status on company_subscriptions (environment_id, status);

-- Credits a company was ever granted.
create table company_credits (
  company_id text not null,
  credit_id text not null,
  environment_id text not null,
  created_at timestamptz not null,
  primary key (company_id, credit_id)
);
create index company_credits_of_credit on company_credits (environment_id, credit_id);

-- An actor at one point of its shard's journal. kind: c or u. Sequences of another generation than the running one
-- lie before its first record.
create table snapshots (
  id text primary key,
  kind text not null,
  environment_id text not null,
  generation text not null,
  sequence bigint not null,
  state text not null
);
create index snapshots_of_environment on snapshots (environment_id);

-- Every fact up to here is in a snapshot.
create table checkpoints (
  generation text not null,
  shard integer not null,
  sequence bigint not null,
  primary key (generation, shard)
);

-- How far each shard's journal is projected, per store.
--   sequence      every record up to here is in the store
--   seen_sequence postgres: every last_seen_at up to here is, too; it may lag, to be written in one go
--   chunk_upto    clickhouse: the end of the chunk being sent; after a crash the same chunk is sent again
create table projections (
  generation text not null,
  shard integer not null,
  store text not null check (store in ('postgres', 'clickhouse')),
  sequence bigint not null default 0,
  seen_sequence bigint not null default 0,
  chunk_upto bigint,
  primary key (generation, shard, store)
);

-- Records whose data a store refused however often it was tried. Nothing else stops at them; somebody should look.
create table projection_failures (
  generation text not null,
  shard integer not null,
  store text not null,
  sequence bigint not null,
  error text not null,
  record text not null,
  failed_at timestamptz not null default now(),
  primary key (generation, shard, store, sequence)
);
