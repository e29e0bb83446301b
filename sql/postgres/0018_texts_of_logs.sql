-- Logs grow without end: what is looked for in them by any part of a text, or in one environment alone, has its index.
create index audit_logs_text on audit_logs
  using gin (lower(url) gin_trgm_ops, lower(resource_name) gin_trgm_ops, lower(resource_id) gin_trgm_ops,
    lower(api_key_id) gin_trgm_ops);
create index audit_logs_of_environment on audit_logs (account_id, environment_id, started_at desc, n desc);
create index webhook_events_text on webhook_events
  using gin (lower(request_type) gin_trgm_ops, lower(payload) gin_trgm_ops);
