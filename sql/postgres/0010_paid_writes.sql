-- Idempotency keys of writes that grant, sell, hold or change what is paid (decision 37), with their answers.

-- One row per key in its window; src/engine/idempotency/paid-writes.ts.
create table paid_writes (
  -- Of this use of the key; a record in the journal names it.
  claim text primary key,
  environment_id text not null,
  key_kind text not null check (key_kind in ('secret', 'publishable')),
  key text not null,
  -- SHA-256 of method, path, query and body.
  fingerprint text not null,
  -- The process that runs the request, since when; null: none, and what became of it is looked up.
  owner text,
  owned_at timestamptz not null default now(),
  -- The answer, once there is one.
  status integer,
  body text,
  -- When it was sent, in the environment's time.
  used_at timestamptz not null,
  made_at timestamptz not null default now(),
  unique (environment_id, key_kind, key)
);
create index paid_writes_oldest on paid_writes (made_at);

-- Claims under which something was changed: written with the change, or by the projector of its record.
create table paid_effects (
  claim text primary key,
  made_at timestamptz not null default now()
);
create index paid_effects_oldest on paid_effects (made_at);
