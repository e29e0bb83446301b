-- Idempotency keys that left Redis: filters of spans of receipts, for several nodes (src/redis/old-keys.ts). The keys
-- themselves are in ClickHouse (event_claims).

-- One row per span, in the order in which they were sealed. Its parts are in the same transaction.
create table sealed_keys (
  -- 1, 2, 3… without a gap. The last row stays, so that numbers are never used again.
  version bigint primary key,
  -- Receipts from here on and before there, epoch ms. Spans do not overlap: two nodes that seal at once collide here.
  from_ms bigint not null unique,
  to_ms bigint not null,
  -- The filters are kept for a day from here on.
  sealed_at timestamptz not null default now(),
  -- Every node has the filters, and the keys are deleted from Redis.
  forgotten_at timestamptz
);

create table sealed_key_parts (
  version bigint not null references sealed_keys on delete cascade,
  -- From 0; their number is a power of two.
  part integer not null,
  keys integer not null,
  seed integer not null,
  -- 16 bits each, lowest byte first. Filters do not compress.
  cells bytea not null,
  primary key (version, part)
);
alter table sealed_key_parts alter column cells set storage external;
