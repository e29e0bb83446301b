-- Request limits of single accounts, where they are not those of everyone (section 8: raised per account on request).
-- limits: 'off', or buckets as {"global": [rate per second, burst], …}; a bucket not named keeps the common number.
create table account_limits (
  account_id text primary key references accounts on delete cascade,
  limits jsonb not null,
  updated_at timestamptz not null
);
