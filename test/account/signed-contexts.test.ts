// security L8: a signed context has one text. Texts that a decoder would read as the same are refused.
import t from 'tap'
import { readContext, signContext } from '../../src/account/signed-contexts.js'

const secret = 'ctx_secret'
const secrets = { secret, former: null }
const nowMs = 1_800_000_000_000
const payload = { exp: nowMs / 1_000 + 60, company: { slug: 'acme' } }
const token = signContext(secret, 'env_1', payload)
const read = (text: string, environmentId = 'env_1') => readContext(text, environmentId, secrets, nowMs)

t.test('L8 the text that was signed is read', async t => {
  t.match(read(token), { company: { slug: 'acme' }, user: null })
})

t.test('L8 every text but that one is refused', async t => {
  const [version, encoded, signature] = token.split('.') as [string, string, string]
  const others = [
    ...['!', '=', '==', ' ', '\n', '\t', '\0', '%', '-', 'A', 'é', '.'].flatMap(junk => [
      `${token}${junk}`,
      `${version}.${encoded}.${junk}${signature}`,
      `${version}.${encoded}.${signature.slice(0, 20)}${junk}${signature.slice(20)}`,
      `${version}.${encoded}${junk}.${signature}`,
      `${junk}${token}`,
    ]),
    // the other alphabet of base64, and the two bits of the last character that no byte uses
    `${version}.${encoded}.${signature.replaceAll('-', '+').replaceAll('_', '/')}=`,
    ...['A', 'B', 'C', 'D', '_'].map(last => `${version}.${encoded}.${signature.slice(0, -1)}${last}`),
    `${version}.${encoded}.`,
    `${version}.${encoded}`,
    encoded,
    '',
  ].filter(text => text !== token)
  for (const text of others) t.match(read(text), { fault: /\S/ }, JSON.stringify(text))
  t.match(read(token, 'env_2'), { fault: /not signed for this environment/ })
})
