// Help text of `tollgate import`.

export const importHelp = `
Companies from a CSV file, with a mapping:
  kind: companies
  columns:
    keys.number: Customer no
    name: Company
    plan: { column: Tier, values: { gold: Pro, basic: Starter } }
    created_at: { column: Since, date: dd.MM.yyyy }
  tollgate import customers.csv --mapping customers.yaml --dry-run
docs/importing.md has every member. Without a mapping the columns have the names of members.

Events without a mapping are lines as POST /events takes them, e.g.
  {"event_type": "track", "sent_at": "2026-03-01T12:00:00Z", "body": {"event": "api_call", "company": {"slug": "acme"}}}
Without --as-given every event is a backfill: it needs sent_at, of any age, fills usage and history, and charges nothing.
Events older than 365 days count in sums, and are not listed singly.

Interrupted? Say the same again: it goes on after the last acknowledged record (FILE.progress). What is there as the file
has it is left alone, so a second run changes nothing; events are known again by their keys for 24 hours.`
