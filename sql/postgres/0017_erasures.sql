-- Erasures of companies and users (ER-1): what was removed, and when the last backup that may hold it is gone. Rows of the
-- audit log that were blanked.
create table erasures (
  id text primary key,
  account_id text not null references accounts on delete cascade,
  environment_id text not null,
  kind text not null check (kind in ('company', 'user')),
  entity_id text not null,
  api_key_id text,
  -- Texts that name the entity, to find it by; null once everything is removed.
  marks jsonb,
  -- Rows removed or blanked, by place.
  removed jsonb not null default '{}',
  -- When a backup taken before the erasure is thrown away.
  gone_from_backups_at timestamptz not null,
  requested_at timestamptz not null,
  -- Null: not everything is removed yet.
  erased_at timestamptz
);
create index erasures_newest on erasures (environment_id, requested_at desc, id desc);
create index erasures_unfinished on erasures (requested_at) where erased_at is null;

-- Its texts were removed by an erasure, so its hash cannot be made again.
alter table audit_logs add column erased boolean not null default false;
