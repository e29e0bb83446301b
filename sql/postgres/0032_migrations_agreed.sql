-- A company has a migration in its own schedule: what it drops from there is not asked for again (PB-23).

alter table plan_version_company_migrations add column agreed boolean not null default false;
update plan_version_company_migrations set agreed = true where status = 'pending' and due_at is not null;
