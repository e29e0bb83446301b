// Cost of quantities where the product shows amounts (PB-40…42).
import t from 'tap'
import { amountOf, type SoldPrice } from '../../src/control/billing/sold-price.js'

const price = (changes: Partial<SoldPrice>): SoldPrice => ({
  id: 'bilpp_1',
  productId: 'bilp_1',
  provider: 'native',
  currency: 'usd',
  interval: 'month',
  intervalCount: 1,
  price: 300,
  priceDecimal: null,
  tiers: null,
  tiersMode: null,
  usageType: 'licensed',
  packageSize: 1,
  ...changes,
})

t.test('PB-42 a quantity is billed in whole packages, also under tiers', async t => {
  const inTens = price({ packageSize: 10 })
  t.same(
    [0, 1, 10, 11, 20].map(quantity => amountOf(inTens, quantity)),
    [0, 300, 300, 600, 600],
  )
  t.equal(amountOf(price({}), 11), 3300)
  t.equal(amountOf(price({ priceDecimal: '0.5', packageSize: 2 }), 5), 2, '3 packages of 0.5: PB-41')
  const tiers = [
    { up_to: 2, flat_amount: 0, per_unit_price: 100, per_unit_price_decimal: null },
    { up_to: null, flat_amount: 0, per_unit_price: 50, per_unit_price_decimal: null },
  ]
  t.equal(amountOf(price({ tiers, tiersMode: 'graduated', packageSize: 10 }), 25), 250)
})
