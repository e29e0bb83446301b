-- Leases and reservations, open and over, so that they can be read and listed. Written by the projector from the journal.
-- One that is over is kept for a month.
create table credit_holds (
  id text primary key,
  environment_id text not null,
  company_id text not null,
  credit_id text not null,
  kind text not null check (kind in ('lease', 'reservation')),
  -- Credits held altogether, and the cost of all use that named the hold; the latter may be more.
  granted numeric not null,
  tracked numeric not null,
  expires_at timestamptz not null,
  -- Null while it is open, and for one that ended by time alone until that is written down.
  released_at timestamptz,
  released_reason text check (released_reason in ('archived', 'expired', 'released', 'settled')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  made_at timestamptz not null default now()
);
create index credit_holds_newest on credit_holds (environment_id, kind, created_at desc, id desc);
create index credit_holds_of_company on credit_holds (company_id, created_at desc, id desc);
create index credit_holds_oldest on credit_holds (made_at);
