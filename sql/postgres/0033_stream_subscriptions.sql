-- Subscriptions of the data stream by key (decision 24): a client that asks only for its flags after a reconnect goes on
-- hearing of what it holds, after a restart and on any node.

-- Keys with subscriptions. A row goes some minutes after the last connection of the key.
create table stream_keys (
  environment_id text not null references environments on delete cascade,
  api_key_id text not null references api_keys on delete cascade,
  -- When a connection of the key was last open, to a minute.
  seen_at timestamptz not null,
  primary key (environment_id, api_key_id)
);
create index stream_keys_of_key on stream_keys (api_key_id);

create table stream_subscriptions (
  environment_id text not null,
  api_key_id text not null,
  -- company or user
  kind text not null,
  entity_id text not null,
  primary key (environment_id, api_key_id, entity_id),
  foreign key (environment_id, api_key_id) references stream_keys on delete cascade
);
