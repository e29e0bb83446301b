-- The version of each plan that was the published one until an instant, by plan: who has no plan of its own is on the
-- published version of the fallback plan (RA-6, EN-82).
create function keep_prior_published() returns trigger language plpgsql as $$
begin
  insert into prior_terms (environment_id, kind, id, terms, until_ms)
  select id, 'published_versions', old.plan_id, jsonb_build_object('version_id', old.id), environment_present(id)
  from environments where id = old.environment_id;
  return null;
end $$;
create trigger published_until after update of status, deleted_at on plan_versions for each row
  when (old.status = 'published' and old.deleted_at is null and (new.status <> 'published' or new.deleted_at is not null))
  execute function keep_prior_published();

insert into prior_terms (environment_id, kind, id, terms, until_ms)
select environment_id, 'published_versions', plan_id, jsonb_build_object('version_id', id),
  floor(extract(epoch from until) * 1000)::bigint
from (
  select *, lead(published_at) over (partition by environment_id, plan_id order by published_at, version) as until
  from plan_versions where published_at is not null
) as version
where until is not null order by until;
