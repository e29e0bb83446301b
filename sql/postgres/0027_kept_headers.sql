-- Headers of the answer that a write under an idempotency key gave, beside its body; null: none of its own.
alter table paid_writes add column headers jsonb;
