-- What a company's overrides were before (US-13), one row per writing and removal, written by the projector.
create table override_changes (
  -- The override's id and the instant.
  id text primary key,
  environment_id text not null,
  company_id text not null,
  override_id text not null,
  -- Null: removed.
  entitlement jsonb,
  expires_at timestamptz,
  changed_at timestamptz not null
);
create index override_changes_of_company on override_changes (company_id, changed_at);

-- Those that are there: of earlier values nothing is known.
insert into override_changes
select id || ' ' || to_char(updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), environment_id, company_id, id,
  entitlement, expires_at, updated_at
from company_overrides;
