-- Finds a key among those received within some hours, for several nodes (queries/old_claims.sql). Parts from before have no
-- index and are read whole; they are gone after two days.
ALTER TABLE event_claims ADD INDEX IF NOT EXISTS by_idempotency_key idempotency_key TYPE bloom_filter(0.01) GRANULARITY 1;
