-- Moves of companies to another plan, and the way back: migrations of other kinds (MI-10, MI-30).

alter table plan_version_migrations
  add column kind text not null default 'migration' check (kind in ('migration', 'move', 'revert')),
  -- For a move: the companies asked for. Texts and values of traits in it are removed by an erasure.
  add column filter jsonb,
  -- For a move: the price to be paid; null: the one of the same currency and interval.
  add column price_id text,
  -- For a revert: the migration or move whose companies come back. Its plan and version are those they leave.
  add column reverts_id text,
  add column paused_at timestamptz;
create index plan_version_migrations_reverts on plan_version_migrations (reverts_id) where reverts_id is not null;
create index plan_version_migrations_moves on plan_version_migrations (environment_id, created_at desc, id desc)
  where kind <> 'migration';

-- Null: the company has no plan before, or comes back to none.
alter table plan_version_company_migrations alter column plan_id drop not null;
alter table plan_version_company_migrations alter column plan_version_id_to drop not null;
-- When the company was first asked: what it has done may lie in the journal alone.
alter table plan_version_company_migrations add column asked_at timestamptz;

-- The migration or move that a change was made by, and what the company had before: the way back.
alter table plan_changes add column migration_id text, add column moved jsonb;
create index plan_changes_of_migration on plan_changes (migration_id, company_id) where migration_id is not null;
