-- Slots of Redis over which a cluster spreads journals and keys of events. A cluster made before has one.
alter table cluster add column slots int not null default 1;
