-- Since when no file of the stores holds what an erasure removed (ER-9); null: it is not known.
alter table erasures add column files_clear_at timestamptz;
create index erasures_in_files on erasures (erased_at) where erased_at is not null and files_clear_at is null;
