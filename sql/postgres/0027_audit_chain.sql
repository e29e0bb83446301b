-- The audit log as evidence: who asked from where, and a chain of hashes over the rows in the order of `seq`.
alter table audit_logs
  add column kind text not null default 'change' check (kind in ('change', 'read', 'auth_failure', 'system')),
  add column remote_ip text,
  add column user_agent text,
  add column request_id text,
  -- False while the answer is not in the row yet.
  add column complete boolean not null default true,
  -- Place in the chain, 1, 2, 3 …; null until the row is in it.
  add column seq bigint,
  add column previous_hash text,
  add column hash text,
  add check ((seq is null) = (hash is null) and (seq is null) = (previous_hash is null));
create unique index audit_logs_chain on audit_logs (seq);
create index audit_logs_unchained on audit_logs (n) where seq is null;
