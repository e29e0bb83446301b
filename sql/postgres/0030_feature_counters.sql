-- The event or trait that a feature counted until it was changed: use before that is charged by the former one (RA-6).
create trigger counted_as_it_did after update of event_subtype, trait_hierarchy on features for each row
  when (old.event_subtype is distinct from new.event_subtype or old.trait_hierarchy is distinct from new.trait_hierarchy)
  execute function keep_prior_feature();
