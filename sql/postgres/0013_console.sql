-- Signing in to the console: members with roles, sessions, one-time links, and tokens for a company's own page.

-- file: of the members file, which replaces them at each start; the others are kept by people or by a sign-in.
alter table account_members add column source text not null default 'file'
  check (source in ('file', 'console', 'oidc', 'operator'));
-- Environment id, or "*" for every environment, to viewer, support, editor or admin. Empty: the role decides.
alter table account_members add column console_roles jsonb not null default '{}';
alter table account_members add column disabled boolean not null default false;
alter table account_members add column signed_in_at timestamptz;
-- "subject" of the provider of sign-on.
alter table account_members add column oidc_subject text;
create unique index account_members_subject on account_members (account_id, oidc_subject);

-- A person who is signed in: by a link or by sign-on (member_id), or by a key (api_key_id).
create table console_sessions (
  hash bytea primary key,
  id text not null unique,
  account_id text not null references accounts on delete cascade,
  member_id text references account_members on delete cascade,
  api_key_id text references api_keys on delete cascade,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  check ((member_id is null) <> (api_key_id is null))
);
create index console_sessions_of_member on console_sessions (member_id);
create index console_sessions_of_key on console_sessions (api_key_id);
create index console_sessions_end on console_sessions (expires_at);

-- One-time links. Each row is deleted by its use.
create table console_links (
  hash bytea primary key,
  account_id text not null references accounts on delete cascade,
  member_id text not null references account_members on delete cascade,
  expires_at timestamptz not null
);
create index console_links_of_member on console_links (member_id);

-- Tokens that read one company for a short time, for components on a page of that company.
create table temporary_access_tokens (
  hash bytea primary key,
  id text not null unique,
  account_id text not null references accounts on delete cascade,
  environment_id text not null references environments on delete cascade,
  company_id text not null,
  api_key_id text,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index temporary_access_tokens_end on temporary_access_tokens (expires_at);
