-- A change of plans that settles a custom plan billing stores the billing with its other rows: `settles` says how.

alter table plan_writes add column settles jsonb;
