-- Positions of shards and projectors in the journal, and subscriptions of the data stream.

-- State of a company (kind c) or user (kind u) at one record of its shard's journal. Sequences of another generation
-- than the running one are before its first record.
create table snapshots (
  id text primary key,
  kind text not null,
  environment_id text not null,
  generation text not null,
  sequence bigint not null,
  state text not null
);
create index snapshots_of_environment on snapshots (environment_id);

-- Every fact up to here is in a snapshot.
create table checkpoints (
  generation text not null,
  shard integer not null,
  sequence bigint not null,
  primary key (generation, shard)
);

-- How far each shard's journal is projected, per store.
--   sequence      every record up to here is in the store
--   seen_sequence postgres: every last_seen_at up to here is, too; it may lag, to be written in one go
--   chunk_upto    clickhouse: the end of the chunk being sent; after a crash the same chunk is sent again
create table projections (
  generation text not null,
  shard integer not null,
  store text not null check (store in ('postgres', 'clickhouse')),
  sequence bigint not null default 0,
  seen_sequence bigint not null default 0,
  chunk_upto bigint,
  primary key (generation, shard, store)
);

-- Records whose data a store refused however often it was tried. Nothing else waits for them; an operator should look.
create table projection_failures (
  generation text not null,
  shard integer not null,
  store text not null,
  sequence bigint not null,
  error text not null,
  record text not null,
  failed_at timestamptz not null default now(),
  primary key (generation, shard, store, sequence)
);

-- Keys with subscriptions of the data stream (decision 24): a client that asks only for its flags after a reconnect
-- continues to receive its companies and users, after a restart and on any node. A row is removed some minutes after
-- the last connection of its key.
create table stream_keys (
  environment_id text not null references environments on delete cascade,
  api_key_id text not null references api_keys on delete cascade,
  -- When a connection of the key was last open, to a minute.
  seen_at timestamptz not null,
  primary key (environment_id, api_key_id)
);
create index stream_keys_of_key on stream_keys (api_key_id);

-- Companies and users that connections of a key receive.
create table stream_subscriptions (
  environment_id text not null,
  api_key_id text not null,
  -- company or user
  kind text not null,
  entity_id text not null,
  primary key (environment_id, api_key_id, entity_id),
  foreign key (environment_id, api_key_id) references stream_keys on delete cascade
);
