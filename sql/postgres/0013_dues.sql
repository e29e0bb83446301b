-- What time alone does to companies that nobody asks about. Both tables are written by the projector from the journal.

-- The next instants at which the plans of companies change by themselves: ends of trials and subscriptions, downgrades
-- and migrations agreed for later. Companies are asked then, in memory or not. Ids: company id or subscription id, and
-- what it is that is due.
create table company_dues (
  id text primary key,
  environment_id text not null,
  company_id text not null,
  due_at timestamptz not null
);
create index company_dues_next on company_dues (environment_id, due_at);
create index company_dues_of_company on company_dues (company_id);

insert into company_dues (id, environment_id, company_id, due_at)
select company_id || ' trial', environment_id, company_id, trial_end_at
from company_plans where kind = 'base' and trial_status = 'active' and trial_end_at is not null;

-- Trials that are over, each to be told of once (`subscription.trial.ended`). Ids: company id and end of the trial.
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
