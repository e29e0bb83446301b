-- Companies and users as lists are narrowed and ordered by: everything a filter asks of one of them in one row, so that
-- walking along a list reads rows that lie together. See src/api/entity-list.ts.

-- Substrings of any text (CU-60). The extension comes with Postgres; a role that may create in its database may add it.
create extension if not exists pg_trgm;

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

select list_again(array(select id from companies union all select id from users));

create index listed_newest on listed (environment_id, kind, created_at desc, id desc);
create index listed_by_name on listed (environment_id, kind, name, id);
create index listed_text on listed using gin (text gin_trgm_ops);
-- Those on the fallback plan (EN-82).
create index listed_planless on listed (environment_id, id) where kind = 'company' and plan_id is null;
create index listed_trials on listed (environment_id, plan_until) where plan_until is not null;
drop index companies_by_name;

create index company_subscriptions_products on company_subscriptions using gin ((state->'productIds'));
create index billing_subscriptions_scheduled on billing_subscriptions (environment_id)
  where own->'scheduled' is not null;

-- The order of the list itself, ties included.
drop index companies_last_seen;
create index companies_last_seen on companies (environment_id, last_seen_at desc nulls last, id desc);

analyze listed;
