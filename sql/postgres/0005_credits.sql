-- Credits of an environment: their kinds, what is sold of them, what plan versions grant, limits of single draws; and
-- the grants and holds of companies, written by the projector.

-- Kinds of credit.
create table billing_credits (
  id text primary key,
  environment_id text not null references environments on delete cascade,
  name text not null,
  description text not null,
  burn_strategy text not null check (burn_strategy in ('expiration_priority', 'first_in_first_out',
    'last_in_first_out', 'plan_first_then_credit_bundles_first_in_first_out')),
  ledger_authority text not null default 'service_authoritative'
    check (ledger_authority in ('service_authoritative', 'external_mirror', 'external_rated')),
  default_expiry_unit text not null check (default_expiry_unit in ('billing_periods', 'days')),
  default_expiry_unit_count bigint,
  default_rollover_policy text not null check (default_rollover_policy in ('expire', 'none', 'rollover')),
  icon text,
  plural_name text,
  singular_name text,
  -- The currency of the price that is named without one.
  currency text not null,
  -- Prices of one credit, by currency: StoredPrice of src/catalog/prices.ts, cadence one_time.
  prices jsonb not null default '[]',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Gone from lists; ledger and bundles still name it.
  deleted_at timestamptz
);
create index billing_credits_newest on billing_credits (environment_id, created_at desc, id desc);

-- Bundles of a credit for sale.
create table credit_bundles (
  id text primary key,
  environment_id text not null references environments on delete cascade,
  credit_id text not null references billing_credits on delete cascade,
  name text not null,
  bundle_type text not null default 'fixed' check (bundle_type in ('fixed')),
  status text not null check (status in ('active', 'inactive')),
  -- Credits of one bundle; null: the buyer says how many.
  quantity bigint,
  expiry_type text not null check (expiry_type in ('duration', 'end_of_billing_period',
    'end_of_next_billing_period', 'end_of_trial', 'no_expiry')),
  expiry_unit text not null check (expiry_unit in ('billing_periods', 'days')),
  expiry_unit_count bigint,
  -- Empty: every plan (PB-71).
  compatible_plan_ids jsonb not null default '[]',
  currency text not null,
  -- Prices of one credit, by currency; the bundle's is this times its quantity (PB-73).
  prices jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz
);
create index credit_bundles_newest on credit_bundles (environment_id, created_at desc, id desc);
create index credit_bundles_of_credit on credit_bundles (credit_id);

-- Credits that a plan version grants.
create table plan_credit_grants (
  id text primary key,
  -- The same for a grant and its copies on later versions.
  origin_id text not null,
  environment_id text not null references environments on delete cascade,
  plan_id text not null references plans on delete cascade,
  plan_version_id text not null references plan_versions on delete cascade,
  credit_id text not null references billing_credits on delete cascade,
  billing_mode text not null check (billing_mode in ('granted', 'billed')),
  scaling text not null check (scaling in ('fixed', 'per_license')),
  license_id text,
  credit_amount bigint not null,
  company_credit_amount bigint not null,
  reset_type text not null check (reset_type in ('no_reset', 'plan_period')),
  reset_cadence text check (reset_cadence in ('daily', 'every_6_months', 'monthly', 'quarterly', 'weekly', 'yearly')),
  reset_start text check (reset_start in ('billing_period', 'first_of_month')),
  -- Given again at each boundary of a period, beside the rest of earlier grants.
  renewal_enabled boolean not null default false,
  renewal_period text check (renewal_period in ('billing_period', 'first_of_month')),
  rollover_percentage integer not null check (rollover_percentage between 0 and 100),
  expiry_type text,
  expiry_unit text,
  expiry_unit_count bigint,
  postpaid_enabled boolean not null,
  postpaid_rate_per_unit bigint,
  postpaid_rate_per_unit_decimal text,
  -- Credits, as decimal text; null: no floor.
  overdraft_limit text,
  arrears_cadence text,
  arrears_anchor text,
  auto_topup_availability text not null check (auto_topup_availability in ('off', 'automatic', 'user_controlled')),
  auto_topup_amount bigint,
  auto_topup_amount_type text,
  auto_topup_threshold_credits bigint,
  auto_topup_threshold_percent integer,
  auto_topup_expiry_type text,
  auto_topup_expiry_unit text,
  auto_topup_expiry_unit_count bigint,
  -- Deprecated; stored and shown (see credit_bundles.compatible_plan_ids).
  can_buy_bundles boolean not null,
  unit_price bigint,
  unit_price_decimal text,
  tier_mode text check (tier_mode in ('graduated', 'volume')),
  -- {up_to, per_unit_price, per_unit_price_decimal}, ascending, the last without up_to.
  price_tiers jsonb not null default '[]',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (plan_version_id, origin_id)
);
create index plan_credit_grants_newest on plan_credit_grants (environment_id, created_at desc, id desc);
create index plan_credit_grants_of_credit on plan_credit_grants (credit_id);
create index plan_credit_grants_of_plan on plan_credit_grants (plan_id);

-- The most that one draw of a company or user may cost.
create table credit_spend_policies (
  id text primary key,
  environment_id text not null references environments on delete cascade,
  credit_id text not null references billing_credits on delete cascade,
  company_id text,
  user_id text,
  label text,
  -- Credits, as decimal text.
  max_per_draw text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((company_id is null) <> (user_id is null))
);
create unique index credit_spend_policies_of_target
  on credit_spend_policies (environment_id, credit_id, coalesce(company_id, user_id));
create index credit_spend_policies_newest on credit_spend_policies (environment_id, created_at desc, id desc);

-- Grants as they were given, and what of them was written off. The company's state knows what is left of one. Grants
-- outlive their company, as the ledger does.
create table credit_grants (
  id text primary key,
  environment_id text not null,
  company_id text not null,
  credit_id text not null,
  -- Place of the ledger entry that made it.
  sequence bigint not null,
  reason text not null,
  quantity numeric not null,
  valid_from timestamptz not null,
  expires_at timestamptz,
  plan_id text,
  plan_grant_id text,
  licence integer,
  -- How often it is given again; null for one that is not.
  renewal_period text,
  bundle_id text,
  source_grant_id text,
  currency text,
  written_off numeric not null default 0,
  zeroed_out_at timestamptz,
  zeroed_out_reason text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index credit_grants_of_company on credit_grants (company_id, created_at desc, id desc);
create index credit_grants_of_credit on credit_grants (environment_id, credit_id, created_at desc, id desc);
create index credit_grants_of_bundle on credit_grants (bundle_id) where bundle_id is not null;

-- Leases and reservations, open and ended, to be read and listed. Written by the projector from the journal. One that
-- has ended is kept for a month.
create table credit_holds (
  id text primary key,
  environment_id text not null,
  company_id text not null,
  credit_id text not null,
  kind text not null check (kind in ('lease', 'reservation')),
  -- Credits held altogether, and the cost of all use that named the hold; the latter may be more.
  granted numeric not null,
  tracked numeric not null,
  expires_at timestamptz not null,
  -- Null while it is open, and for one that ended by time alone until that is written down.
  released_at timestamptz,
  released_reason text check (released_reason in ('archived', 'expired', 'released', 'settled')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  made_at timestamptz not null default now()
);
create index credit_holds_newest on credit_holds (environment_id, kind, created_at desc, id desc);
create index credit_holds_of_company on credit_holds (company_id, created_at desc, id desc);
create index credit_holds_oldest on credit_holds (made_at);

-- Idempotency keys of reservations and of extensions of leases, of the last day: a key belongs to one company of its
-- environment, whatever company it is sent with again. Written by the projector from the journal; the HTTP thread reads
-- them at its start.
create table hold_keys (
  id text primary key,
  environment_id text not null,
  kind text not null check (kind in ('extension', 'reservation')),
  key text not null,
  company_id text not null,
  -- When it was used, in the environment's time.
  used_at timestamptz not null,
  made_at timestamptz not null default now()
);
create index hold_keys_oldest on hold_keys (made_at);
