-- Slots of Redis over which a cluster spreads journals and keys of events: one for each primary that there was at its first start. A cluster made before has one.
alter table cluster add column slots int not null default 1;
