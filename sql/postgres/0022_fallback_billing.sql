-- Companies on the fallback plan alone are looked at after each calendar month, for use that it prices (RA-25).
create table fallback_billing (
  environment_id text primary key references environments on delete cascade,
  -- Start of the month up to which companies were found, epoch ms of the environment's time.
  month_ms bigint not null
);
-- What was used before is not billed: no closed period has told of it.
insert into fallback_billing (environment_id, month_ms)
select id, extract(epoch from date_trunc('month', to_timestamp(environment_present(id) / 1000.0) at time zone 'UTC'))::bigint * 1000
from environments;
