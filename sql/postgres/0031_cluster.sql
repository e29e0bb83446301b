-- Several nodes on one Postgres: names the journals that they keep in Redis, made by the first of them.

create table cluster (
  one boolean primary key default true check (one),
  generation text not null
);
