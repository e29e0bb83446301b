-- What publishable keys may do in an environment, what contexts are signed with there, and whose traits they are believed of.
alter table environments
  -- Members that were set; null: what environments of the type have.
  add column publishable_limits jsonb,
  add column context_secret text,
  add column former_context_secret text,
  add column former_context_secret_until timestamptz;

alter table trait_definitions add column publishable_writes boolean not null default false;
