-- Companies and users as lists and filters show them, written by the projector alone from the journal. The live state
-- is the shards'; these rows follow it.
--
-- Nothing here refers to another table or forbids a double. Shards are projected side by side, so a pair of keys that
-- one company gave up and another took may for a moment be listed under both, and a membership may outlive its company
-- until the next statement. The directory on the HTTP thread decides which entity owns a pair; reads of memberships
-- join companies and users. Ids of keys, traits, memberships and definitions are derived from names (src/core/id.ts).

-- Companies: what a list shows of one.
create table companies (
  id text primary key,
  environment_id text not null,
  name text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  last_seen_at timestamptz
);
-- The order of the list itself, ties included.
create index companies_last_seen on companies (environment_id, last_seen_at desc nulls last, id desc);

-- Users: what a list shows of one.
create table users (
  id text primary key,
  environment_id text not null,
  name text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  last_seen_at timestamptz
);

-- Key names seen in an environment, made at first sight.
create table key_definitions (
  id text primary key,
  environment_id text not null,
  entity_type text not null check (entity_type in ('company', 'user')),
  key text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index key_definitions_newest on key_definitions (environment_id, created_at desc, id desc);

-- Keys of companies and users.
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

-- Traits of companies and users.
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

-- Users of companies.
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

-- Overrides of companies. `entitlement` is core's EntitlementDef as JSON.
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

-- Earlier values of a company's overrides (US-13): one row per write and removal.
create table override_changes (
  -- The override's id and the instant.
  id text primary key,
  environment_id text not null,
  company_id text not null,
  override_id text not null,
  -- Null: removed.
  entitlement jsonb,
  expires_at timestamptz,
  changed_at timestamptz not null
);
create index override_changes_of_company on override_changes (company_id, changed_at);

-- Notes that callers wrote beside an override.
create table company_override_notes (
  id text primary key,
  environment_id text not null,
  override_id text not null,
  note text not null,
  external_user_id text not null default '',
  external_user_name text not null default '',
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index company_override_notes_of_override on company_override_notes (override_id, created_at, id);

-- The base plan and the add-ons of a company.
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
create index company_plans_add_ons on company_plans (environment_id, plan_id, version_id) where kind = 'add_on';

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
create index company_subscriptions_products on company_subscriptions using gin ((state->'productIds'));

-- Credits a company was ever granted.
create table company_credits (
  company_id text not null,
  credit_id text not null,
  environment_id text not null,
  created_at timestamptz not null,
  primary key (company_id, credit_id)
);
create index company_credits_of_credit on company_credits (environment_id, credit_id);

-- The next instants at which the plans of a company change by themselves: ends of trials and subscriptions, downgrades
-- and migrations agreed for later. The company is asked then, in memory or not. Ids: company id or subscription id, and
-- the kind of change.
create table company_timers (
  id text primary key,
  environment_id text not null,
  company_id text not null,
  due_at timestamptz not null
);
create index company_timers_next on company_timers (environment_id, due_at);
create index company_timers_of_company on company_timers (company_id);

-- Trials that are over, each announced once (`subscription.trial.ended`). Ids: company id and end of the trial.
create table ended_trials (
  id text primary key,
  environment_id text not null,
  company_id text not null,
  -- Null: a plan's own trial, that no subscription bills.
  subscription_id text,
  plan_id text,
  began_at timestamptz not null,
  trial_end_at timestamptz not null,
  trial_end_setting text not null check (trial_end_setting in ('cancel', 'subscribe')),
  status text not null check (status in ('converted', 'expired')),
  told boolean not null default false,
  created_at timestamptz not null
);
create index ended_trials_untold on ended_trials (environment_id, created_at) where not told;

-- All that lists filter and order a company or user by, in one row, so that walking along a list reads rows that
-- lie together. See src/api/entities/list.ts.
create table listed (
  id text primary key,
  environment_id text not null,
  kind text not null check (kind in ('company', 'user')),
  created_at timestamptz not null,
  name text not null,
  -- Name, key values and string traits, in lower case, with a unit separator in between.
  text text not null,
  -- The base plan as it is stored, and when its trial takes it away again (EN-91).
  plan_id text,
  version_id text,
  plan_until timestamptz,
  -- Plans and versions of add-ons.
  add_ons text[] not null,
  -- Features with an override, in force or over.
  overridden text[] not null,
  credits text[] not null,
  -- Statuses of its subscriptions.
  subscribed text[] not null
) with (fillfactor = 85);

-- Write the rows of these companies and users anew; nothing is written where nothing changed.
create function list_again(ids text[]) returns void language sql as $$
  insert into listed as l
  select e.id, e.environment_id, e.kind, e.created_at, e.name,
    lower(concat_ws(
      chr(31),
      e.name,
      (select string_agg(k.value, chr(31) order by k.id) from entity_keys k where k.entity_id = e.id),
      (select string_agg(t.value, chr(31) order by t.id)
        from entity_traits t left join trait_definitions d on d.id = t.definition_id
        where t.entity_id = e.id and coalesce(d.trait_type, 'string') in ('string', 'url')))),
    p.plan_id, p.version_id,
    case when p.trial_end_setting = 'cancel' and p.trial_status <> 'converted' then p.trial_end_at end,
    array(select unnest(array[a.plan_id, a.version_id]) from company_plans a
      where a.company_id = e.id and a.kind = 'add_on' order by 1),
    array(select o.feature_id from company_overrides o where o.company_id = e.id order by 1),
    array(select c.credit_id from company_credits c where c.company_id = e.id order by 1),
    array(select distinct s.status from company_subscriptions s where s.company_id = e.id order by 1)
  from (
    select id, environment_id, 'company' as kind, created_at, name from companies where id = any(ids)
    union all select id, environment_id, 'user', created_at, name from users where id = any(ids)
  ) e
  left join company_plans p on p.company_id = e.id and p.kind = 'base'
  on conflict (id) do update set created_at = excluded.created_at, name = excluded.name, text = excluded.text,
    plan_id = excluded.plan_id, version_id = excluded.version_id, plan_until = excluded.plan_until,
    add_ons = excluded.add_ons, overridden = excluded.overridden, credits = excluded.credits,
    subscribed = excluded.subscribed
  where (l.*) is distinct from (excluded.*)
$$;

create index listed_trials on listed (environment_id, plan_until) include (id, created_at)
  where plan_until is not null;
-- Companies of a plan in the order of the list; those on the fallback plan (EN-82) are under null.
create index listed_of_plan on listed (environment_id, plan_id, created_at desc, id desc)
  include (version_id, plan_until) where kind = 'company';
-- Texts by kind, so that companies are found without their users.
create index listed_company_text on listed using gin (text gin_trgm_ops) where kind = 'company';
create index listed_user_text on listed using gin (text gin_trgm_ops) where kind = 'user';
create index listed_company_newest on listed (environment_id, created_at desc, id desc) where kind = 'company';
create index listed_user_newest on listed (environment_id, created_at desc, id desc) where kind = 'user';
-- Companies alone are listed by name. The planner combines an index with another only where their conditions differ in
-- writing: this one is combined with that of texts, whose kind is written the other way.
create index listed_company_by_name on listed (environment_id, name, id) where kind = any ('{company}');
