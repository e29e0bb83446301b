-- What lists of companies and users are narrowed by, found without looking at every row: see src/api/entity-list.ts.

-- Substrings of any text (CU-60). The extension comes with Postgres; a role that may create in its database may add it.
create extension if not exists pg_trgm;

-- Names as they are searched. They lie apart from the rows of companies and users, which are written each time one is
-- seen: their index would be written with them, and is dear.
create table entity_names (
  entity_id text primary key,
  environment_id text not null,
  entity_type text not null,
  name text not null
);
insert into entity_names
  select id, environment_id, 'company', name from companies
  union all select id, environment_id, 'user', name from users;
create index entity_names_text on entity_names using gin (lower(name) gin_trgm_ops);
create index entity_keys_text on entity_keys using gin (lower(value) gin_trgm_ops);
create index entity_traits_text on entity_traits using gin (lower(value) gin_trgm_ops);

-- Whether a base plan is stored for the company: those without one are on the fallback plan (EN-82).
alter table companies add column on_plan boolean not null default false;
update companies set on_plan = true
  where id in (select company_id from company_plans where kind = 'base');
create index companies_planless on companies (environment_id, id) where not on_plan;

-- Trials that end by themselves: another plan counts from then on (EN-91).
create index company_plans_trials on company_plans (environment_id, trial_end_at)
  where kind = 'base' and trial_end_setting = 'cancel';
create index company_subscriptions_products on company_subscriptions using gin ((state->'productIds'));
create index billing_subscriptions_scheduled on billing_subscriptions (environment_id)
  where own->'scheduled' is not null;

-- The order of the list itself, ties included.
drop index companies_last_seen;
create index companies_last_seen on companies (environment_id, last_seen_at desc nulls last, id desc);
