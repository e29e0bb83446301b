-- What a key has besides its scopes: times, addresses, a state, a former value. And how a change made by SQL is noticed.
alter table api_keys
  add column not_before timestamptz,
  add column expires_at timestamptz,
  add column disabled boolean not null default false,
  -- CIDR blocks as texts; null: any address.
  add column allowed_addresses jsonb,
  -- The end of the value, to tell keys apart in lists; null: not known yet.
  add column last_four text,
  -- The value before the last roll, and until when it is taken.
  add column previous_hash bytea unique,
  add column previous_until timestamptz,
  -- Which pepper the hashes are under; null: not known.
  add column pepper_id text,
  add check ((previous_hash is null) = (previous_until is null));

-- Raised by every transaction that changes what a running process keeps of the keys. Uses of keys do not raise it.
create table key_version (n bigint not null);
insert into key_version (n) values (1);

create function count_key_change() returns trigger language plpgsql as $$
begin
  update key_version set n = n + 1;
  return null;
end
$$;

create trigger api_keys_changed
  after insert or delete or truncate or update of id, account_id, environment_id, name, description, kind, scopes,
    readonly, rate_limit_percent, secret_hash, bootstrap, not_before, expires_at, disabled, allowed_addresses,
    previous_hash, previous_until
  on api_keys for each statement execute function count_key_change();
