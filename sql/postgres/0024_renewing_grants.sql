-- Grants that are given again at each boundary of a period, beside what is left of those before.
alter table plan_credit_grants
  add column renewal_enabled boolean not null default false,
  add column renewal_period text check (renewal_period in ('billing_period', 'first_of_month'));

-- How often it is given again; null for one that is not.
alter table credit_grants add column renewal_period text;
