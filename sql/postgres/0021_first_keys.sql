-- Every value the first key ever had: one that was deleted or replaced opens nothing again. And what is known of the
-- installation: which pepper and which members file it had last.
create table bootstrap_values (
  secret_hash bytea primary key,
  account_id text not null references accounts on delete cascade,
  created_at timestamptz not null
);
insert into bootstrap_values (secret_hash, account_id, created_at)
  select secret_hash, account_id, created_at from api_keys where bootstrap;

create table installation (
  name text primary key,
  value text not null,
  updated_at timestamptz not null
);
