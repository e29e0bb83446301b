-- The price of a whole bundle is a price of its own: it has its row, under the id of the price of one credit and a "w".
insert into billing_prices (id, environment_id, product_id, external_id, provider_type, currency, "interval",
  interval_count, price, price_decimal, billing_scheme, tiers_mode, price_tiers, usage_type, is_active, created_at,
  updated_at)
select unit.id || 'w', unit.environment_id, unit.product_id, unit.id || 'w', unit.provider_type, unit.currency,
  unit."interval", unit.interval_count, round(amount.whole),
  case when amount.whole = round(amount.whole) then null else trim_scale(amount.whole)::text end,
  unit.billing_scheme, unit.tiers_mode, unit.price_tiers, unit.usage_type, unit.is_active, unit.created_at,
  unit.updated_at
from credit_bundles bundle
cross join lateral jsonb_array_elements(bundle.prices) priced
join billing_prices unit on unit.id = priced ->> 'id'
cross join lateral (
  select coalesce(unit.price_decimal::numeric, unit.price) * coalesce(bundle.quantity, 1) as whole
) amount
where bundle.deleted_at is null
on conflict (id) do nothing;

-- A subscription that names its payment method as the provider does also has the service's id of it.
update billing_subscriptions s set default_payment_method_id = m.id
from billing_payment_methods m
where m.environment_id = s.environment_id and m.external_id = s.default_payment_method_external_id
  and s.default_payment_method_id is null;
