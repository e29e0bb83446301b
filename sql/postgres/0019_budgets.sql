-- Spend policies bound what is spent in an hour, day, week or month too, for a company, a user, or uses that carry a trait (BU-1).
alter table credit_spend_policies alter column max_per_draw drop not null;
-- Uses whose trait has this value: of the event, else of the company.
alter table credit_spend_policies add column group_trait text;
alter table credit_spend_policies add column group_value text;
alter table credit_spend_policies add column period text check (period in ('hour', 'day', 'week', 'month'));
-- Decimal text: credits, or the smallest unit of the currency.
alter table credit_spend_policies add column max_spend text;
alter table credit_spend_policies add column unit text check (unit in ('credits', 'cost'));
alter table credit_spend_policies add column currency text;
alter table credit_spend_policies add column mode text check (mode in ('hard', 'soft'));
alter table credit_spend_policies drop constraint credit_spend_policies_check;
alter table credit_spend_policies add constraint credit_spend_policies_target
  check (num_nonnulls(company_id, user_id, group_trait) = 1 and num_nonnulls(group_trait, group_value) <> 1);
alter table credit_spend_policies add constraint credit_spend_policies_bound
  check (num_nonnulls(max_per_draw, max_spend) = 1 and num_nonnulls(max_spend, period, unit, mode) in (0, 4));
drop index credit_spend_policies_of_target;
create unique index credit_spend_policies_of_target on credit_spend_policies (environment_id, credit_id,
  coalesce(company_id, user_id, group_trait || '=' || group_value), coalesce(period, 'draw'), coalesce(mode, 'hard'));
