-- Idempotency keys that left Redis: filters of spans of receipts, for several nodes (src/redis/old-keys.ts). The keys
-- themselves are in ClickHouse (event_claims).

-- One row per span; its parts are in the same transaction. Each begins where the last one ends, which stays. Two nodes
-- that seal at once collide at one of both instants.
create table sealed_keys (
  -- Receipts before there and from there on, epoch ms.
  to_ms bigint primary key,
  from_ms bigint not null unique,
  -- The filters are kept for a day from here on.
  sealed_at timestamptz not null default now(),
  -- Every node has the filters, and the keys are deleted from Redis.
  forgotten_at timestamptz
);

create table sealed_key_parts (
  to_ms bigint not null references sealed_keys on delete cascade,
  -- From 0; their number is a power of two.
  part integer not null,
  keys integer not null,
  seed integer not null,
  -- 16 bits each, lowest byte first. Filters do not compress.
  cells bytea not null,
  primary key (to_ms, part)
);
alter table sealed_key_parts alter column cells set storage external;
