-- Lists of many: who holds a plan in the order of the list, so that a page of a plan that the oldest companies alone are
-- on is read and not looked for; and texts by kind, so that companies are found without their users.

create index listed_of_plan on listed (environment_id, plan_id, created_at desc, id desc)
  include (version_id, plan_until) where kind = 'company';
-- Those on the fallback plan (EN-82) stand in it too.
drop index listed_planless;

drop index listed_trials;
create index listed_trials on listed (environment_id, plan_until) include (id, created_at)
  where plan_until is not null;
create index company_plans_add_ons on company_plans (environment_id, plan_id, version_id) where kind = 'add_on';

create index listed_company_text on listed using gin (text gin_trgm_ops) where kind = 'company';
create index listed_user_text on listed using gin (text gin_trgm_ops) where kind = 'user';
drop index listed_text;

-- Lists are ordered by `listed`; these cost a write for every company that is seen.
drop index companies_newest;
drop index users_newest;

analyze listed;
