-- An interrupted change of plans is finished as a whole (PB-30, US-3). Its row keeps the plans, for a change without a
-- subscription, and says whether its rows are stored while its billing-cycle counters wait for their recount.

alter table plan_writes
  -- Ids of base plan and add-ons from the change on; null: noted by an earlier version.
  add column plans jsonb,
  add column is_stored boolean not null default false;
