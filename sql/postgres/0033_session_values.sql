-- A session that was begun with a key holds as long as the value that began it: a roll ends it. Older sessions do not say which
-- value that was, and end.
alter table console_sessions add column api_key_hash bytea;
delete from console_sessions where api_key_id is not null;
alter table console_sessions add check ((api_key_id is null) = (api_key_hash is null));
