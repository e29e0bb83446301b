-- The newest of one kind: what a page far along the list skips is narrower, and no write of a user touches companies'.
create index listed_company_newest on listed (environment_id, created_at desc, id desc) where kind = 'company';
create index listed_user_newest on listed (environment_id, created_at desc, id desc) where kind = 'user';
drop index listed_newest;

-- Companies alone are listed by name. The planner combines an index with another only where their conditions differ in
-- writing: this one is combined with that of texts, whose kind is said the other way.
create index listed_company_by_name on listed (environment_id, name, id) where kind = any ('{company}');
drop index listed_by_name;

-- Customers are found by any part of their name, email or external id.
create index billing_customers_text on billing_customers
  using gin (lower(name) gin_trgm_ops, lower(email) gin_trgm_ops, lower(external_id) gin_trgm_ops);
