-- Until when an environment had no plan group: changes inside a period credited nothing then (RA-14).
create function keep_begin_of_plan_group() returns trigger language plpgsql as $$
begin
  insert into prior_terms (environment_id, kind, id, terms, until_ms)
  select id, 'no_plan_group', new.id, '{"settings": {}}', environment_present(id) from environments where id = new.environment_id;
  return null;
end $$;
create trigger begun after insert on plan_groups for each row execute function keep_begin_of_plan_group();
