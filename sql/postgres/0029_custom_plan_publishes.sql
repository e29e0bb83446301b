-- Custom plans whose publish is in force and whose company has not been put on them yet (PB-13, PB-60): written with the
-- publish, gone when it is done. What a kill leaves is taken up again.

create table custom_plan_publishes (
  plan_version_id text primary key,
  environment_id text not null references environments on delete cascade,
  plan_id text not null,
  company_id text not null,
  api_key_id text not null,
  -- The body of the publish, and its company as it was before.
  request jsonb not null,
  before jsonb not null,
  -- No version of the plan was published before.
  is_first boolean not null,
  migration_id text,
  -- The unpaid billing that the publish replaces.
  replaces_id text,
  published_at timestamptz not null
);
create index custom_plan_publishes_of_environment on custom_plan_publishes (environment_id);
