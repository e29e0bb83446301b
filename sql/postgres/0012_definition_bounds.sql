-- Bounds on what callers define, for each environment and account (security M4). They are held where rows are inserted, so
-- that every route holds them. A start writes the numbers (src/engine/account/definition-bounds.ts).
create table definition_bounds (
  -- definitions, parts of them, or records of companies
  name text primary key,
  most bigint not null
);

-- Arguments: the column that owns the rows, the name of the bound. A transaction may say which part of the bound of an
-- account it may fill (tollgate.part); a restore sets tollgate.unbounded.
create function hold_definition_bound() returns trigger language plpgsql as $$
declare
  most bigint;
  found bigint;
  owner text;
begin
  if current_setting('tollgate.unbounded', true) = 'on' then return null; end if;
  -- records are many: one insert in 256 counts them
  if tg_argv[1] = 'records' and random() > 1.0 / 256 then return null; end if;
  select b.most into most from definition_bounds b where b.name = tg_argv[1];
  if most is null then return null; end if;
  if tg_argv[0] = 'account_id' then
    most := floor(most * coalesce(nullif(current_setting('tollgate.part', true), ''), '1')::numeric);
  end if;
  for owner in execute format('select distinct %I from added', tg_argv[0]) loop
    execute format('select count(*) from (select from %I where %I = $1 limit $2) as counted', tg_table_name, tg_argv[0])
      into found using owner, most + 1;
    if found > most then
      raise exception '%: there are as many as there may be, %', replace(tg_table_name, '_', ' '), most
        using errcode = 'TG429';
    end if;
  end loop;
  return null;
end $$;

create trigger held_in_bounds after insert on features referencing new table as added
  for each statement execute function hold_definition_bound('account_id', 'definitions');
create trigger held_in_bounds after insert on flags referencing new table as added
  for each statement execute function hold_definition_bound('account_id', 'definitions');
create trigger held_in_bounds after insert on plans referencing new table as added
  for each statement execute function hold_definition_bound('account_id', 'definitions');
create trigger held_in_bounds after insert on environments referencing new table as added
  for each statement execute function hold_definition_bound('account_id', 'definitions');
create trigger held_in_bounds after insert on api_keys referencing new table as added
  for each statement execute function hold_definition_bound('account_id', 'definitions');
create trigger held_in_bounds after insert on plan_groups referencing new table as added
  for each statement execute function hold_definition_bound('environment_id', 'definitions');
create trigger held_in_bounds after insert on billing_products referencing new table as added
  for each statement execute function hold_definition_bound('environment_id', 'definitions');
create trigger held_in_bounds after insert on billing_coupons referencing new table as added
  for each statement execute function hold_definition_bound('environment_id', 'definitions');
create trigger held_in_bounds after insert on billing_meters referencing new table as added
  for each statement execute function hold_definition_bound('environment_id', 'definitions');
create trigger held_in_bounds after insert on billing_credits referencing new table as added
  for each statement execute function hold_definition_bound('environment_id', 'definitions');
create trigger held_in_bounds after insert on credit_bundles referencing new table as added
  for each statement execute function hold_definition_bound('environment_id', 'definitions');
create trigger held_in_bounds after insert on credit_spend_policies referencing new table as added
  for each statement execute function hold_definition_bound('environment_id', 'definitions');
create trigger held_in_bounds after insert on plan_version_migrations referencing new table as added
  for each statement execute function hold_definition_bound('environment_id', 'definitions');
create trigger held_in_bounds after insert on webhooks referencing new table as added
  for each statement execute function hold_definition_bound('environment_id', 'definitions');
create trigger held_in_bounds after insert on rules referencing new table as added
  for each statement execute function hold_definition_bound('environment_id', 'parts');
create trigger held_in_bounds after insert on plan_versions referencing new table as added
  for each statement execute function hold_definition_bound('environment_id', 'parts');
create trigger held_in_bounds after insert on plan_entitlements referencing new table as added
  for each statement execute function hold_definition_bound('environment_id', 'parts');
create trigger held_in_bounds after insert on billing_prices referencing new table as added
  for each statement execute function hold_definition_bound('environment_id', 'parts');
create trigger held_in_bounds after insert on plan_credit_grants referencing new table as added
  for each statement execute function hold_definition_bound('environment_id', 'parts');
create trigger held_in_bounds after insert on custom_plan_billings referencing new table as added
  for each statement execute function hold_definition_bound('environment_id', 'parts');
create trigger held_in_bounds after insert on billing_customers referencing new table as added
  for each statement execute function hold_definition_bound('environment_id', 'records');
create trigger held_in_bounds after insert on billing_subscriptions referencing new table as added
  for each statement execute function hold_definition_bound('environment_id', 'records');
create trigger held_in_bounds after insert on billing_invoices referencing new table as added
  for each statement execute function hold_definition_bound('environment_id', 'records');
create trigger held_in_bounds after insert on billing_payment_methods referencing new table as added
  for each statement execute function hold_definition_bound('environment_id', 'records');
create trigger held_in_bounds after insert on company_billing_profiles referencing new table as added
  for each statement execute function hold_definition_bound('environment_id', 'records');
create trigger held_in_bounds after insert on company_billing_details referencing new table as added
  for each statement execute function hold_definition_bound('environment_id', 'records');
create trigger held_in_bounds after insert on company_override_notes referencing new table as added
  for each statement execute function hold_definition_bound('environment_id', 'records');
