-- Products for sale, and the reports of a billing provider's sync: customers, subscriptions, invoices, coupons, payment
-- methods, meters. Each is known by its provider's id. Access is not decided here: the company's own state decides it.

-- Products of billing providers, and those made here.
create table billing_products (
  id text primary key,
  environment_id text not null references environments on delete cascade,
  external_id text not null,
  name text not null,
  provider_type text not null check (provider_type in ('ext_a', 'ext_b', 'native', 'psp')),
  is_active boolean not null default true,
  price double precision not null default 0,
  quantity double precision not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (environment_id, provider_type, external_id)
);
create index billing_products_newest on billing_products (environment_id, created_at desc, id desc);

-- Prices of products. A bundle of credits has a price of its own beside that of one credit: its id and a `w`.
create table billing_prices (
  id text primary key,
  environment_id text not null references environments on delete cascade,
  product_id text not null references billing_products on delete cascade,
  external_id text not null,
  provider_type text not null check (provider_type in ('ext_a', 'ext_b', 'native', 'psp')),
  currency text not null,
  "interval" text not null check ("interval" in ('day', 'month', 'one-time', 'year')),
  interval_count integer not null default 1,
  price bigint not null,
  price_decimal text,
  billing_scheme text not null default 'per_unit' check (billing_scheme in ('per_unit', 'tiered')),
  tiers_mode text check (tiers_mode in ('graduated', 'volume')),
  -- {up_to, flat_amount, per_unit_price, per_unit_price_decimal}, ascending.
  price_tiers jsonb not null default '[]',
  usage_type text not null default 'licensed' check (usage_type in ('licensed', 'metered')),
  package_size integer not null default 1,
  is_active boolean not null default true,
  nickname text,
  meter_id text,
  external_account_id text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (environment_id, provider_type, external_id)
);
create index billing_prices_of_product on billing_prices (product_id);
create index billing_prices_newest on billing_prices (environment_id, created_at desc, id desc);

-- Customers of a billing provider.
create table billing_customers (
  id text primary key,
  environment_id text not null references environments on delete cascade,
  provider_type text not null check (provider_type in ('ext_a', 'ext_b', 'native', 'psp')),
  external_id text not null,
  name text not null,
  email text not null,
  meta jsonb not null default '{}',
  company_id text,
  default_payment_method_id text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  unique (environment_id, external_id)
);
create index billing_customers_newest on billing_customers (environment_id, created_at desc, id desc);
create index billing_customers_of_company on billing_customers (company_id) where company_id is not null;
-- Customers are found by any part of their name, email or external id (CU-60).
create index billing_customers_text on billing_customers
  using gin (lower(name) gin_trgm_ops, lower(email) gin_trgm_ops, lower(external_id) gin_trgm_ops);

-- Subscriptions of a billing provider, and those that the service bills itself. Ids are derived from the external id,
-- so that a subscription keeps its id from the first message on.
create table billing_subscriptions (
  id text primary key,
  environment_id text not null references environments on delete cascade,
  provider_type text not null check (provider_type in ('ext_a', 'ext_b', 'native', 'psp')),
  external_id text not null,
  customer_external_id text not null,
  company_id text,
  status text not null,
  currency text not null,
  "interval" text not null,
  total_price bigint not null,
  -- Epoch seconds (PB-52).
  period_start bigint not null,
  period_end bigint not null,
  trial_end bigint,
  trial_end_setting text check (trial_end_setting in ('cancel', 'subscribe')),
  cancel_at bigint,
  cancel_at_period_end boolean not null,
  started_at timestamptz,
  expired_at timestamptz,
  application_id text,
  default_payment_method_id text,
  default_payment_method_external_id text,
  metadata jsonb,
  -- {product_id, price_id, quantity, …}: see src/api/billing/subscriptions.ts. Replaced as a set (PB-50).
  products jsonb not null default '[]',
  -- As the caller gave them.
  discounts jsonb not null default '[]',
  -- Set where the service bills: how the periods renew, and what is agreed for later.
  own jsonb,
  -- Set while the status is past_due; gated_at: from then on the subscription gives no access.
  overdue_since timestamptz,
  gated_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (environment_id, external_id)
);
create index billing_subscriptions_newest on billing_subscriptions (environment_id, created_at desc, id desc);
create index billing_subscriptions_of_company on billing_subscriptions (company_id) where company_id is not null;
create index billing_subscriptions_of_customer on billing_subscriptions (environment_id, customer_external_id);
create index billing_subscriptions_products on billing_subscriptions using gin (products jsonb_path_ops);
create index billing_subscriptions_scheduled on billing_subscriptions (environment_id)
  where own->'scheduled' is not null;

-- Invoices of a billing provider.
create table billing_invoices (
  id text primary key,
  environment_id text not null references environments on delete cascade,
  provider_type text not null check (provider_type in ('ext_a', 'ext_b', 'native', 'psp')),
  external_id text,
  customer_external_id text not null,
  subscription_external_id text,
  payment_method_external_id text,
  company_id text,
  status text check (status in ('draft', 'open', 'paid', 'uncollectible', 'void')),
  collection_method text not null,
  currency text not null,
  amount_due bigint not null,
  amount_paid bigint not null,
  amount_remaining bigint not null,
  subtotal bigint not null,
  starting_balance bigint not null default 0,
  ending_balance bigint not null default 0,
  due_date timestamptz,
  url text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (environment_id, external_id)
);
create index billing_invoices_newest on billing_invoices (environment_id, created_at desc, id desc);
create index billing_invoices_of_subscription
  on billing_invoices (environment_id, subscription_external_id, created_at desc, id desc);

-- Coupons of a billing provider.
create table billing_coupons (
  id text primary key,
  environment_id text not null references environments on delete cascade,
  provider_type text not null check (provider_type in ('ext_a', 'ext_b', 'native', 'psp')),
  external_id text not null,
  name text not null,
  is_active boolean not null default true,
  amount_off bigint,
  percent_off double precision,
  currency text,
  duration text,
  duration_in_months bigint,
  max_redemptions bigint,
  times_redeemed bigint not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (environment_id, external_id)
);
create index billing_coupons_newest on billing_coupons (environment_id, created_at desc, id desc);

-- Payment methods of a customer.
create table billing_payment_methods (
  id text primary key,
  environment_id text not null references environments on delete cascade,
  provider_type text not null check (provider_type in ('ext_a', 'ext_b', 'native', 'psp')),
  external_id text not null,
  customer_external_id text not null,
  company_id text,
  payment_method_type text not null,
  account_last4 text,
  account_name text,
  bank_name text,
  billing_email text,
  billing_name text,
  card_brand text,
  card_last4 text,
  card_exp_month integer,
  card_exp_year integer,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (environment_id, external_id)
);
create index billing_payment_methods_newest on billing_payment_methods (environment_id, created_at desc, id desc);
create index billing_payment_methods_of_customer on billing_payment_methods (environment_id, customer_external_id);

-- Meters of a billing provider.
create table billing_meters (
  id text primary key,
  environment_id text not null references environments on delete cascade,
  provider_type text not null check (provider_type in ('ext_a', 'ext_b', 'native', 'psp')),
  external_id text not null,
  display_name text not null,
  event_name text not null,
  event_payload_key text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (environment_id, external_id)
);
create index billing_meters_newest on billing_meters (environment_id, created_at desc, id desc);

-- How a company pays. Every company has one default profile, made when billing is first spoken of.
create table company_billing_profiles (
  id text primary key,
  environment_id text not null references environments on delete cascade,
  company_id text not null,
  provider_type text not null check (provider_type in ('ext_a', 'ext_b', 'native', 'psp')),
  name text,
  is_default boolean not null,
  collection_method text not null default 'charge_automatically'
    check (collection_method in ('charge_automatically', 'send_invoice')),
  days_until_due integer,
  proration_behavior text check (proration_behavior in ('create_prorations', 'invoice_immediately')),
  payment_method_id text,
  billing_customer_id text references billing_customers on delete set null,
  payment_gating text not null default 'keep_serving' check (payment_gating in ('keep_serving', 'revoke_after')),
  -- Days of an overdue payment after which what was paid for is revoked.
  gating_days integer not null default 0,
  collector text check (collector in ('external', 'psp_invoice', 'psp_payments')),
  currency text,
  -- Credits that the balance may fall below zero, where a plan lets it fall at all.
  overdraft_limit bigint,
  purchase_order text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index company_billing_profiles_newest on company_billing_profiles (environment_id, created_at desc, id desc);
create unique index company_billing_profiles_default on company_billing_profiles (company_id) where is_default;

-- The address that invoices go to, tax ids and values of checkout fields.
create table company_billing_details (
  company_id text primary key,
  environment_id text not null references environments on delete cascade,
  email text,
  phone text,
  address jsonb,
  -- {id, type, value, country}.
  tax_ids jsonb not null default '[]',
  -- Checkout field id → value.
  field_values jsonb not null default '{}',
  updated_at timestamptz not null
);

-- Debts for plans that are invoiced (PB-60…62).
create table custom_plan_billings (
  id text primary key,
  environment_id text not null references environments on delete cascade,
  company_id text not null,
  plan_id text not null,
  plan_version_id text,
  plan_billing_source text not null check (plan_billing_source in ('amendment', 'custom_plan', 'manage_plan')),
  activation_strategy text not null check (activation_strategy in ('on_payment', 'on_publish')),
  status text not null check (status in ('active', 'expired', 'paid', 'pending')),
  days_until_due integer not null,
  send_invoice boolean not null,
  customer_email text,
  billing_cycle_anchor timestamptz,
  prorate_first_period boolean,
  external_invoice_id text,
  invoice_url text,
  -- The request that waits for its payment (PB-60).
  request jsonb,
  -- The migration that moved the company, for an amendment.
  migration_id text,
  published_at timestamptz,
  paid_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index custom_plan_billings_newest on custom_plan_billings (environment_id, created_at desc, id desc);
create index custom_plan_billings_of_company on custom_plan_billings (company_id, created_at desc, id desc);
