-- What an interrupted change of plans needs to be finished as a whole (PB-30, US-3): its plans, for a change without a
-- subscription; and whether its rows are stored, while its billing-cycle counters still wait for their recount.

alter table plan_writes
  -- Ids of base plan and add-ons from the change on; null: noted by an earlier version.
  add column plans jsonb,
  add column is_stored boolean not null default false;
