-- Names of keys whose values are kept in lower case (CU-4): {"company": ["email"], "user": ["email"]}; null: none.
alter table environments add column lowercase_keys jsonb;
