-- Shards of the cluster; the first node writes it. A cluster made before has 32.
alter table cluster add column shards int not null default 32;
