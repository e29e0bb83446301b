-- Idempotency keys of reservations and of extensions of leases, of the last day: a key is one company's in its
-- environment, whatever company it is sent with again. Written by the projector from the journal; the HTTP thread reads
-- them at its start.
create table hold_keys (
  id text primary key,
  environment_id text not null,
  kind text not null check (kind in ('extension', 'reservation')),
  key text not null,
  company_id text not null,
  -- When it was used, in the environment's time.
  used_at timestamptz not null,
  made_at timestamptz not null default now()
);
create index hold_keys_oldest on hold_keys (made_at);
