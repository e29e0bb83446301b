// Digits of currencies.
import t from 'tap'
import { currencyCodes } from '../../../schemas/enums.js'
import { digitsOf } from '../../../src/control/charges/currency.js'

t.test('RA-19 digits of every currency are those of ISO 4217', async t => {
  const none = 'bif clp djf gnf isk jpy kmf krw pyg rwf ugx vnd vuv xaf xof xpf'.split(' ')
  for (const currency of currencyCodes) t.equal(digitsOf(currency), none.includes(currency) ? 0 : 2, currency)
  t.equal(digitsOf('JPY'), 0, 'in capitals too')
})
