-- Changes of plans that a company is about to make, with the rows that belong to them (PB-30, PB-60): written before the
-- company is told, gone when the rows are stored. What a kill leaves is stored if the company has made the change.

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
  -- The environment's present at the request.
  changed_at timestamptz not null,
  begun_at timestamptz not null default now()
);
create index plan_writes_of_company on plan_writes (company_id);
create index plan_writes_of_environment on plan_writes (environment_id);
