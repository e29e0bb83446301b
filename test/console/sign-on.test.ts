// Sign-on to the console with a real provider of OpenID Connect: PKCE, domains, groups and roles, and what is refused.
import t, { type Test } from 'tap'
import { startHere } from '../harness.js'
import { launch, noBrowser, openPage } from './browser.js'
import { freePort, type IdentityProvider, type Person, startProvider, Visitor } from './provider.js'

t.setTimeout(300_000)

const roles = { staff: 'viewer', sales: { Production: 'support', 'No such': 'admin' }, chiefs: 'admin' }

t.test('sign-on', async t => {
  const port = String(await freePort())
  const publicUrl = `http://127.0.0.1:${port}`
  const people = new Map<string, Person>([
    ['ann', { name: 'Ann', email: 'ann@acme.test', email_verified: true, groups: ['staff', 'sales'] }],
    ['bob', { name: 'Bob', email: 'bob@other.test', email_verified: true, groups: ['chiefs'] }],
    ['cyd', { name: 'Cyd', email: 'cyd@acme.test', email_verified: false, groups: ['chiefs'] }],
    ['dan', { name: 'Dan', email: 'dan@acme.test', email_verified: true, groups: ['guests'] }],
    ['eve', { email: 'eve@acme.test@evil.test', email_verified: true, groups: ['chiefs'] }],
    ['fay', { groups: ['chiefs'] }],
    ['gil', { name: 'Gil', email: 'GIL@ACME.test', email_verified: true, groups: ['chiefs', 'staff'] }],
  ])
  const provider = await startProvider(t, people, `${publicUrl}/console/sign-on-done`)
  const { client } = await startHere(t, {
    TOLLGATE_PORT: port,
    TOLLGATE_PUBLIC_URL: publicUrl,
    TOLLGATE_OIDC_ISSUER: provider.issuer,
    TOLLGATE_OIDC_CLIENT_ID: provider.clientId,
    TOLLGATE_OIDC_DOMAINS: 'acme.test',
    TOLLGATE_OIDC_ROLES: JSON.stringify(roles),
  })
  const { environments } = await client.ok('GET', '/whoami')
  const production = environments.find((one: { name: string }) => one.name === 'Production').id
  const begin = new URL('/console/sign-on', publicUrl)

  /** Sign on; the reason of a refusal, or null. */
  async function signOn(visitor: Visitor): Promise<string | null> {
    const { url } = await visitor.walk(begin)
    t.equal(url.origin + url.pathname, `${publicUrl}/console/`)
    t.notMatch(url.hash, 'error', 'no words in the address')
    // as the page does
    const jar = visitor.jar(begin)
    const told = jar.get('tollgate_sign_on_refusal')
    jar.delete('tollgate_sign_on_refusal')
    return told === undefined ? null : decodeURIComponent(told)
  }
  const ask = async (visitor: Visitor, path: string, method = 'GET', body?: object) => {
    const response = await visitor.get(new URL(`/console/api${path}`, publicUrl), {
      method,
      headers: {
        'Sec-Fetch-Site': 'same-origin',
        Origin: publicUrl,
        'X-Service-Environment-Id': production,
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: JSON.parse(await response.text()) }
  }

  await t.test('the page offers it', async t => {
    const session = await (await fetch(new URL('/console/session', publicUrl))).json()
    t.match(session, { data: { sign_on: true } })
  })

  await t.test(
    'groups give roles, by environment; the audit log has the name (PKCE is demanded)',
    async t => {
      const ann = new Visitor('ann')
      t.equal(await signOn(ann), null)
      const asked = ann.visited.find(({ pathname }) => pathname === '/auth')!.searchParams
      t.match(asked.get('code_challenge'), /^[\w-]{43}$/)
      t.equal(asked.get('code_challenge_method'), 'S256')
      t.same([...ann.jar(begin).keys()], ['tollgate_console'], 'the state of the sign-on is forgotten')
      const { body } = await ask(ann, '/whoami')
      t.match(body.data, {
        name: 'Ann',
        account_member: { console_roles: { '*': 'viewer', [production]: 'support' } },
      })
      t.equal((await ask(ann, '/companies', 'POST', { keys: { slug: 'x' } })).status, 403, 'support')
      const changed = await client.ok('GET', '/account-members')
      t.equal(changed.filter((one: { email: string }) => one.email === 'ann@acme.test').length, 1)
    },
  )

  await t.test('the next sign-on has the groups of that day; the member stays one', async t => {
    people.get('ann')!.groups = ['chiefs']
    const ann = new Visitor('ann')
    t.equal(await signOn(ann), null)
    const { body } = await ask(ann, '/whoami')
    t.same(body.data.account_member.console_roles, { '*': 'admin' })
    t.equal((await ask(ann, '/companies', 'POST', { keys: { slug: 'y' } })).status, 200)
    const members = await client.ok('GET', '/account-members')
    t.equal(members.filter((one: { email: string }) => one.email === 'ann@acme.test').length, 1)
    const [latest] = (await client.ok('GET', '/audit-log')).filter(
      (row: { resource_type: string }) => row.resource_type === 'company',
    )
    t.match(latest, { user_name: 'Ann', api_key_id: null })
  })

  await t.test('of several groups the higher role counts; domains have no case', async t => {
    const gil = new Visitor('gil')
    t.equal(await signOn(gil), null)
    t.same((await ask(gil, '/whoami')).body.data.account_member.console_roles, { '*': 'admin' })
  })

  await t.test(
    'refused: other domains, unverified or no address, no group with a role, a disabled member',
    async t => {
      const ofOthers = /Only verified addresses/
      for (const [login, why] of [
        ['bob', ofOthers],
        ['cyd', ofOthers],
        ['eve', ofOthers],
        ['fay', ofOthers],
        ['dan', /None of your groups/],
      ] as const) {
        const visitor = new Visitor(login)
        t.match(await signOn(visitor), why, login)
        t.same([...visitor.jar(begin).keys()], [], `${login} has no session`)
      }
      const members = await client.ok('GET', '/account-members')
      const { id } = members.find((one: { name: string }) => one.name === 'Gil')
      await client.ok('PUT', `/account-members/${id}`, { disabled: true })
      t.match(await signOn(new Visitor('gil')), /disabled/)
    },
  )

  await t.test('security 44 refused: another browser, a code twice, another state, nonce or verifier', t =>
    refusesOthers(t, begin, provider),
  )

  await t.test('security 44 a browser is sent to the provider and back, and nowhere else', t =>
    sendsNowhereElse(t, begin, provider),
  )

  await t.test('security 44 a page shows why a sign-on was refused, once', { skip: noBrowser }, async t => {
    const { page } = await openPage(await launch(t), publicUrl)
    const reason = page.getByText(/not begun in this browser/)
    await page.goto(new URL('/console/sign-on-done?code=x&state=s', begin).href)
    await reason.waitFor()
    await page.reload()
    await page.getByLabel('Secret key or one-time link').waitFor()
    t.equal(await reason.count(), 0)
  })

  await t.test('a provider that is away is told; keys and links sign in all the same', async t => {
    const other = await startHere(t, {
      TOLLGATE_PUBLIC_URL: publicUrl,
      TOLLGATE_OIDC_ISSUER: `http://127.0.0.1:${await freePort()}`,
      TOLLGATE_OIDC_CLIENT_ID: 'console',
    })
    const away = await fetch(`${other.client.url}/console/sign-on`, { redirect: 'manual' })
    t.equal(away.status, 503)
    t.match(await away.text(), /provider of sign-on does not answer/)
  })
})

async function refusesOthers(t: Test, begin: URL, provider: IdentityProvider): Promise<void> {
  const done = (url: URL) => url.pathname === '/console/sign-on-done'
  const reasonOf = async (visitor: Visitor, url: URL) => {
    const answer = await visitor.get(url)
    const refusal = visitor.jar(url).get('tollgate_sign_on_refusal')
    visitor.jar(url).delete('tollgate_sign_on_refusal')
    return refusal === undefined ? answer.headers.get('location') : decodeURIComponent(refusal)
  }
  const fresh = async () => {
    const visitor = new Visitor('ann')
    const { url } = await visitor.walk(begin, done)
    t.not(url.host, new URL(provider.issuer).host)
    return { visitor, url, kept: visitor.jar(begin).get('tollgate_sign_on')! }
  }
  const first = await fresh()
  t.match(await reasonOf(new Visitor('eve'), first.url), /not begun in this browser/)
  t.equal(await reasonOf(first.visitor, first.url), './', 'the browser that began it')
  first.visitor.jar(begin).set('tollgate_sign_on', first.kept)
  t.match(await reasonOf(first.visitor, first.url), /did not confirm/, 'the code again')
  const second = await fresh()
  second.url.searchParams.set('state', 'another')
  t.match(await reasonOf(second.visitor, second.url), /did not confirm/, 'another state')
  const third = await fresh()
  const [state, nonce] = third.kept.split('.')
  third.visitor.jar(begin).set('tollgate_sign_on', `${state}.${nonce}.${'x'.repeat(43)}`)
  t.match(await reasonOf(third.visitor, third.url), /did not confirm/, 'another verifier')
  const fourth = await fresh()
  const [ownState, , verifier] = fourth.kept.split('.')
  fourth.visitor.jar(begin).set('tollgate_sign_on', `${ownState}.${'x'.repeat(32)}.${verifier}`)
  t.match(await reasonOf(fourth.visitor, fourth.url), /did not confirm/, 'another nonce')
  t.same([...fourth.visitor.jar(begin).keys()], [], 'and no session')
}

/** Where a sign-on sends the browser follows from the settings alone. */
async function sendsNowhereElse(t: Test, begin: URL, provider: IdentityProvider): Promise<void> {
  const foreign = 'evil.example'
  const targets = [
    `?return=https://${foreign}&redirect_uri=https://${foreign}&next=//${foreign}`,
    `?iss=https://${foreign}`,
  ]
  for (const query of targets) {
    const headers = { 'X-Forwarded-Host': foreign, Origin: `https://${foreign}` }
    const answer = await fetch(new URL(query, begin), { redirect: 'manual', headers })
    const to = new URL(answer.headers.get('location')!)
    t.equal(to.origin, provider.issuer)
    t.equal(to.searchParams.get('redirect_uri'), new URL('/console/sign-on-done', begin).href)
    t.notMatch(to.href, foreign)
  }
  const done = new URL(`/console/sign-on-done?code=x&state=s&iss=https://${foreign}&next=//${foreign}`, begin)
  for (const cookie of [
    '',
    `tollgate_sign_on=s.n.${'v'.repeat(43)}`,
    'tollgate_sign_on=..',
    'tollgate_sign_on=%0d%0aX: y',
  ]) {
    const answer = await fetch(done, { redirect: 'manual', headers: { Cookie: cookie } })
    t.equal(answer.status, 302)
    t.equal(answer.headers.get('location'), './#/sign-in')
    t.match(answer.headers.get('set-cookie'), /tollgate_sign_on_refusal=\w/)
    t.notMatch(answer.headers.get('set-cookie'), /tollgate_console/)
  }
}
