// GET /llms.txt: the interface on one page for language models, with links to the rest.

/** Paths are relative to the service, so that they hold behind any address. */
export const forModels = `# Tollgate

> Decides what a company may use (flags, entitlements), counts what it used (events), and keeps its credits exact. This
> is a running service; every path below is relative to its address.

- Every request has the header \`X-Service-Api-Key\`. Account-wide keys add \`X-Service-Environment-Id\`.
- A success is \`{"data": …, "params": …}\`, a failure \`{"error": "what was wrong"}\` with a 4xx or 5xx.
- Companies and users are named by keys of yours, such as \`{"slug": "acme"}\`, or by ids (\`comp_…\`, \`user_…\`).
- Lists take \`limit\` (100, at most 250), \`offset\` and often \`q\`.
- An event with an \`idempotency_key\` counts once within 24 hours, however often it is sent.

## Interface

- [OpenAPI document](/openapi.json): every operation with its types
- [Interactive page](/docs/): the same, to try

## Usual calls

- POST /flags/{key}/check: may this company use it? \`{"company": {"slug": "acme"}}\` answers value, reason, limit and usage
- POST /flags/check: all flags of a company, its plan and its credit balances
- POST /events: report use: \`{"event_type": "track", "idempotency_key": "…", "body": {"event": "api_call", "company": {"slug": "acme"}, "quantity": 1}}\`
- POST /event-batch: many events: \`{"events": […]}\`
- POST /companies: create or change a company by its keys
- GET /companies/lookup?keys[slug]=acme: one company, with plan, entitlements and usage
- GET /plans, GET /features, GET /flags: what is defined
- PUT /company-plans/{company_id}: put a company on a plan
- POST /company-overrides: another limit for one company
- GET /feature-usage?company_keys[slug]=acme: usage of each feature against its limit
- POST /flags/{key}/check-and-reserve: check, and hold the credits until the event that names the reservation

## Clients

- \`@tollgate/client\` (TypeScript): checks in the caller's process, events that are not lost, typed calls
- \`@tollgate/react\`: hooks for flags, entitlements and credits
- \`tollgate mcp\`: this interface as tools of the Model Context Protocol; read-only without \`--write\`
- OpenFeature: OFREP at /ofrep/v1, with the key as Bearer token
- GET /datastream: a WebSocket that tells of every change
`
