-- Plans and add-ons, their versions, what each version grants and costs, how an environment offers them, and companies
-- that change plan. A plan is the account's; its versions belong to one environment each (PB-1).

-- Plans and add-ons of an account.
create table plans (
  id text primary key,
  account_id text not null references accounts on delete cascade,
  plan_type text not null check (plan_type in ('plan', 'add_on')),
  -- As written at creation and by the latest publish: what an environment without a version shows.
  name text not null,
  description text not null default '',
  icon text not null,
  -- A custom plan belongs to one company, and so to that company's environment (PB-13).
  company_id text,
  environment_id text references environments on delete cascade,
  copied_from_plan_id text,
  controlled_by text not null default 'native' check (controlled_by in ('ext_a', 'ext_b', 'native', 'psp')),
  external_resource_id text,
  external_resource_version text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Archived: gone from lists and from the flags; plan changes still name it (PB-12).
  deleted_at timestamptz,
  check ((company_id is null) = (environment_id is null))
);
create index plans_of_account on plans (account_id, created_at desc, id desc);
create index plans_of_company on plans (company_id) where company_id is not null;
create unique index plans_by_resource on plans (account_id, controlled_by, external_resource_id)
  where external_resource_id is not null and deleted_at is null;

-- Versions of a plan in one environment: at most one draft and one published.
create table plan_versions (
  id text primary key,
  plan_id text not null references plans on delete cascade,
  environment_id text not null references environments on delete cascade,
  version integer not null,
  status text not null check (status in ('published', 'draft', 'archived')),
  name text not null,
  description text not null default '',
  icon text not null,
  charge_type text not null default 'none' check (charge_type in ('free', 'none', 'one_time', 'recurring')),
  billing_strategy text not null default 'no_billing'
    check (billing_strategy in ('service_managed', 'provider_managed', 'no_billing')),
  billing_product_id text,
  is_trialable boolean not null default false,
  trial_days integer,
  -- The currency of the prices that are named without one.
  currency text not null default 'usd',
  -- Prices of the plan itself: {id, currency, cadence, price, …}, see src/catalog/prices.ts. A price without `minted`
  -- belongs to a draft: publishing makes it a row of billing_prices under the same id (PB-5).
  prices jsonb not null default '[]',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  published_at timestamptz,
  deleted_at timestamptz,
  unique (plan_id, environment_id, version)
);
create unique index plan_versions_one_draft on plan_versions (plan_id, environment_id) where status = 'draft';
create unique index plan_versions_one_published on plan_versions (plan_id, environment_id)
  where status = 'published' and deleted_at is null;
create index plan_versions_of_environment on plan_versions (environment_id, plan_id);

-- Features that a plan version grants, how much of each, and at which price.
create table plan_entitlements (
  id text primary key,
  environment_id text not null references environments on delete cascade,
  plan_id text not null references plans on delete cascade,
  plan_version_id text not null references plan_versions on delete cascade,
  feature_id text not null references features on delete cascade,
  -- The generated rules (EN-5): made with the entitlement, so that checks can name them.
  rule_id text not null,
  rule_id_usage_exceeded text,
  value_type text not null,
  value_bool boolean,
  value_numeric bigint,
  value_trait_id text,
  value_credit_id text,
  consumption_rate double precision,
  -- Credits per unit of each quantity of an inference event (EN-42).
  quantity_rates jsonb,
  metric_period text,
  metric_period_month_reset text,
  price_behavior text,
  soft_limit bigint,
  usage_quantity bigint,
  billing_threshold bigint,
  overage_billing_cadence text,
  overage_invoice_anchor text,
  billing_product_id text,
  overage_billing_product_id text,
  tier_mode text,
  -- As plan_versions.prices.
  prices jsonb not null default '[]',
  -- {id, key, value}, in the order given (EN-52).
  warning_tiers jsonb not null default '[]',
  billing_provider text,
  external_resource_id text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- EN-4.
  unique (plan_version_id, feature_id)
);
create index plan_entitlements_newest on plan_entitlements (environment_id, created_at desc, id desc);
create index plan_entitlements_of_plan on plan_entitlements (plan_id);
create index plan_entitlements_of_feature on plan_entitlements (feature_id);

-- How an environment offers its plans: at most one row. `settings` holds the members that are only stored
-- and shown, as the wire spells them.
create table plan_groups (
  id text primary key,
  environment_id text not null unique references environments on delete cascade,
  initial_plan_id text,
  initial_plan_price_id text,
  fallback_plan_id text,
  trial_expiry_plan_id text,
  trial_expiry_plan_price_id text,
  custom_plan_id text,
  settings jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

-- One row per change of a company's plans (PB-34), written by the projector from the fact of the change.
create table plan_changes (
  id text primary key,
  environment_id text not null,
  company_id text not null,
  action text not null,
  base_plan_action text,
  subscription_change_action text,
  actor_type text not null,
  api_key_id text,
  previous_plan_id text,
  previous_version_id text,
  plan_id text,
  version_id text,
  -- Plan ids.
  add_ons_added jsonb not null,
  add_ons_removed jsonb not null,
  trial_status text,
  trial_ends_at timestamptz,
  created_at timestamptz not null
);
create index plan_changes_newest on plan_changes (environment_id, created_at desc, id desc);
create index plan_changes_of_company on plan_changes (company_id, created_at desc, id desc);

-- Changes of plans that a company is about to make, with the rows that belong to them (PB-30, PB-60, US-3): written
-- before the company is told, removed when the rows are stored and counted. What a kill leaves is stored if the company
-- has made the change.
create table plan_writes (
  id text primary key,
  environment_id text not null references environments on delete cascade,
  company_id text not null,
  api_key_id text not null,
  -- The subscription as it is to be stored; null: none.
  subscription jsonb,
  -- Whether the company had no subscription of the service before.
  is_new boolean not null,
  -- The billing as it is to be stored, with its id; null: nothing is billed by invoice.
  billing jsonb,
  -- Values of checkout fields.
  field_values jsonb not null,
  -- Ids of base plan and add-ons from the change on.
  plans jsonb not null,
  -- The rows are stored; billing-cycle counters wait for their recount.
  is_stored boolean not null default false,
  -- The environment's present at the request.
  changed_at timestamptz not null,
  begun_at timestamptz not null default now()
);
create index plan_writes_of_company on plan_writes (company_id);
create index plan_writes_of_environment on plan_writes (environment_id);

-- Companies moving to another version of their plan (PB-20). A migration begins in the transaction that publishes;
-- its companies are listed once every shard has the new version, so that none slips through.
create table plan_version_migrations (
  id text primary key,
  environment_id text not null references environments on delete cascade,
  plan_id text not null references plans on delete cascade,
  plan_version_id_to text not null references plan_versions on delete cascade,
  -- Null: every other version.
  plan_version_ids_from jsonb,
  strategy text not null
    check (strategy in ('end_of_billing_period', 'immediate', 'leave', 'scheduled')),
  proration_behavior text,
  -- The date of strategy `scheduled`.
  scheduled_at timestamptz,
  -- Null: every company.
  company_ids jsonb,
  excluded_company_ids jsonb not null default '[]',
  status text not null check (status in ('cancelled', 'completed', 'failed', 'in_progress', 'pending')),
  api_key_id text,
  error text,
  listed_at timestamptz,
  started_at timestamptz,
  completed_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- The order in which migrations were asked for.
  place bigint generated by default as identity
);
create index plan_version_migrations_to on plan_version_migrations (plan_version_id_to, created_at desc, id desc);
create index plan_version_migrations_open on plan_version_migrations (environment_id)
  where status in ('in_progress', 'pending');

-- One company of a migration, and how far it is.
create table plan_version_company_migrations (
  id text primary key,
  environment_id text not null references environments on delete cascade,
  migration_id text not null references plan_version_migrations on delete cascade,
  company_id text not null,
  plan_id text not null,
  plan_version_id_from text,
  plan_version_id_to text not null,
  status text not null
    check (status in ('cancelled', 'completed', 'failed', 'in_progress', 'pending', 'skipped')),
  -- When a deferred one is due; null while no date can be named (PB-21).
  due_at timestamptz,
  -- Asked to be done at once, whatever the date.
  forced boolean not null default false,
  error text,
  error_code text,
  started_at timestamptz,
  completed_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- The company has the migration in its own schedule: what it drops from there is not asked for again (PB-23).
  agreed boolean not null default false,
  -- Called off, and the company still has to be told.
  to_tell boolean not null default false,
  unique (migration_id, company_id)
);
create index plan_version_company_migrations_newest
  on plan_version_company_migrations (migration_id, created_at desc, id desc);
create index plan_version_company_migrations_open on plan_version_company_migrations (company_id, plan_id)
  where status in ('in_progress', 'pending');
create index plan_version_company_migrations_to_tell on plan_version_company_migrations (migration_id) where to_tell;

-- Custom plans whose publish is in force and whose company has not been put on them yet (PB-13, PB-60): written with
-- the publish, removed when it is done. What a kill leaves is taken up again.
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
