-- Terms of default billing profiles for charges, until they were changed, by company (RA-6, RA-14).
create function keep_prior_profile() returns trigger language plpgsql as $$
begin
  if not old.is_default or (tg_op = 'UPDATE' and new.is_default
    and new.proration_behavior is not distinct from old.proration_behavior
    and new.currency is not distinct from old.currency) then
    return null;
  end if;
  insert into prior_terms (environment_id, kind, id, terms, until_ms)
  select id, 'company_billing_profiles', old.company_id,
    jsonb_build_object('proration_behavior', old.proration_behavior, 'currency', old.currency), environment_present(id)
  from environments where id = old.environment_id;
  return null;
end $$;
create trigger kept_as_it_was after update or delete on company_billing_profiles
  for each row execute function keep_prior_profile();
