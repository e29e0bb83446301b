-- Since when the stores have had all of an entity that was removed: what came later with its keys belongs to another (ER-4).
alter table erasures add column removed_at timestamptz;
