-- Products that a publish has newly linked to a plan: the companies that subscribe to them already are still to be put
-- on the plan. A row goes when that is done.

create table plan_links (
  plan_version_id text primary key,
  environment_id text not null,
  product_id text not null,
  api_key_id text not null,
  linked_at timestamptz not null
);
create index plan_links_of_environment on plan_links (environment_id);
