// The OpenFeature providers through OpenFeature's own SDKs, against a real Tollgate: values, reasons, errors, events.
import { type EventDetails, ProviderEvents, OpenFeature as Servers } from '@openfeature/server-sdk'
import { ProviderEvents as PageEvents, OpenFeature as Pages } from '@openfeature/web-sdk'
import t from 'tap'
import { TollgateProvider } from '../../clients/typescript/src/openfeature-server.js'
import { TollgateWebProvider } from '../../clients/typescript/src/openfeature-web.js'
import { startHere } from '../harness.js'
import { makeFlag, rule } from '../interface/flags.js'
import { clientOf, HeldWire, publishableKey } from './make.js'

t.setTimeout(120_000)

const { client } = await startHere(t)
const company = { slug: 'acme' }
const made = await client.ok('POST', '/companies', { keys: company })
await client.ok('POST', '/users', { keys: { id: 'u1' }, companies: [company] })
const isIt = { condition_type: 'company', operator: 'eq', resource_ids: [made.id] }
await makeFlag(client, 'chosen', false, [rule('chosen', [isIt])])
await makeFlag(client, 'plain', true)

t.test('the server’s provider', async t => {
  const tollgate = clientOf(t, client)
  await Servers.setProviderAndWait(new TollgateProvider(tollgate))
  t.teardown(() => Servers.close())
  const flags = Servers.getClient()
  t.equal(flags.providerStatus, 'READY')
  t.match(await flags.getBooleanDetails('chosen', false, { company }), {
    value: true,
    variant: 'on',
    reason: 'TARGETING_MATCH',
    flagMetadata: { source: 'local', company_id: made.id },
  })
  t.match(await flags.getBooleanDetails('chosen', true, { companyKey: 'acme', companyKeyName: 'slug' }), {
    value: true,
  })
  t.match(await flags.getBooleanDetails('plain', false, { targetingKey: 'u1' }), {
    value: true,
    reason: 'DEFAULT',
    flagMetadata: { source: 'local' },
  })
  t.match(await flags.getBooleanDetails('absent', true), {
    value: true,
    reason: 'ERROR',
    errorCode: 'FLAG_NOT_FOUND',
  })
  t.match(await flags.getStringDetails('plain', 'x'), { value: 'x', errorCode: 'TYPE_MISMATCH' })
  t.match(await flags.getNumberDetails('plain', 1), { value: 1, errorCode: 'TYPE_MISMATCH' })
  t.match(await flags.getObjectDetails('plain', {}), { value: {}, errorCode: 'TYPE_MISMATCH' })
  const changed = new Promise<EventDetails | undefined>(resolve =>
    flags.addHandler(ProviderEvents.ConfigurationChanged, resolve),
  )
  await makeFlag(client, 'fresh', true)
  t.match(await changed, { flagsChanged: ['fresh'] })
  t.match(await flags.getBooleanDetails('fresh', false), { value: true, flagMetadata: { source: 'local' } })
})

t.test('the page’s provider, with a publishable key', async t => {
  const tollgate = clientOf(t, client.as(await publishableKey(client)), { local: false })
  await Pages.setContext({ company: { slug: 'other' } })
  const provider = new TollgateWebProvider(tollgate, { pollMs: 0 })
  await Pages.setProviderAndWait(provider)
  t.teardown(() => Pages.close())
  const flags = Pages.getClient()
  t.match(flags.getBooleanDetails('chosen', true), {
    value: false,
    reason: 'DEFAULT',
    flagMetadata: { source: 'http' },
  })
  await Pages.setContext({ company })
  t.match(flags.getBooleanDetails('chosen', false), { value: true, variant: 'on', reason: 'TARGETING_MATCH' })
  t.match(flags.getBooleanDetails('absent', true), { value: true, errorCode: 'FLAG_NOT_FOUND' })
  t.match(flags.getStringDetails('plain', 'x'), { value: 'x', errorCode: 'TYPE_MISMATCH' })
  const changed = new Promise(resolve => flags.addHandler(PageEvents.ConfigurationChanged, resolve))
  await makeFlag(client, 'newer', true)
  await provider.look()
  t.match(await changed, { flagsChanged: ['newer'] })
  t.equal(flags.getBooleanValue('newer', false), true)
})

// Requirements of OpenFeature's appendix for providers, for one with boolean flags and change events.
t.test('a flag that is not there is not found, whatever type is asked for', async t => {
  await Servers.setProviderAndWait(new TollgateProvider(clientOf(t, client)))
  const flags = Servers.getClient()
  const missing = { reason: 'ERROR', errorCode: 'FLAG_NOT_FOUND' }
  t.match(await flags.getStringDetails('absent', 'x'), { value: 'x', ...missing })
  t.match(await flags.getNumberDetails('absent', 1), { value: 1, ...missing })
  t.match(await flags.getObjectDetails('absent', {}), { value: {}, ...missing })
  await Servers.close()
})

t.test('false is a value, not its absence', async t => {
  await Servers.setProviderAndWait(new TollgateProvider(clientOf(t, client)))
  const off = await Servers.getClient().getBooleanDetails('chosen', true, { targetingKey: 'u1' })
  t.match(off, { value: false, variant: 'off', errorCode: undefined, errorMessage: undefined })
  await Servers.close()
})

t.test('a service that is not reached is an error at once, and code defaults go on', async t => {
  const nowhere = clientOf(t, client, { url: 'http://127.0.0.1:9' })
  const provider = new TollgateProvider(nowhere, { readyMs: 50 })
  const flags = Servers.getClient('unreached')
  const error = new Promise(resolve => flags.addHandler(ProviderEvents.Error, resolve))
  await t.rejects(Servers.setProviderAndWait('unreached', provider), /not ready within 50 ms/)
  await error
  t.equal(flags.providerStatus, 'ERROR')
  t.match(await flags.getBooleanDetails('plain', false), { value: false, reason: 'ERROR' })
  await Servers.close()
})

t.test('a connection that is lost makes the provider stale, and ready once it is back', async t => {
  const wire = new HeldWire()
  const provider = new TollgateProvider(clientOf(t, client, { webSocket: wire.open }))
  await Servers.setProviderAndWait('lost', provider)
  const flags = Servers.getClient('lost')
  const heard = (event: ProviderEvents) =>
    new Promise<void>(resolve => flags.addHandler(event, () => resolve()))
  const stale = heard(ProviderEvents.Stale)
  wire.end()
  await stale
  t.equal(flags.providerStatus, 'STALE')
  t.match(await flags.getBooleanDetails('plain', false), { value: true, reason: 'STALE' })
  await heard(ProviderEvents.Ready)
  while (flags.providerStatus !== 'READY') await heard(ProviderEvents.Ready)
  t.equal(flags.providerStatus, 'READY')
  await Servers.close()
})

t.test('a page whose service is not reached is in error', async t => {
  const provider = new TollgateWebProvider(clientOf(t, client, { url: 'http://127.0.0.1:9', local: false }))
  await t.rejects(Pages.setProviderAndWait('unreached', provider))
  const flags = Pages.getClient('unreached')
  t.equal(flags.providerStatus, 'ERROR')
  t.match(flags.getBooleanDetails('plain', false), { value: false, reason: 'ERROR' })
  await Pages.close()
})
