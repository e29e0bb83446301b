// The whole interface on one page. One line per operation, sorted by path: add yours in its place.

import { parseCheck, parseCheckBulk } from '../../schemas/checks.js'
import {
  parseClockUpdate,
  parseEnvironmentCreate,
  parseEnvironmentUpdate,
} from '../../schemas/environments.js'
import {
  parseBillingLinkedFeatureCreate,
  parseFeatureCreate,
  parseFeatureUpdate,
} from '../../schemas/features.js'
import { parseFlagWrite, parseRulesWrite } from '../../schemas/flags.js'
import { parseApiKeyCreate, parseApiKeyUpdate } from '../../schemas/keys.js'
import { parseModelPrices } from '../../schemas/model-prices.js'
import { parseTraitDefinitionCreate, parseTraitDefinitionUpdate } from '../../schemas/traits.js'
import * as checks from '../api/checks/handlers.js'
import * as environments from '../api/environments/handlers.js'
import * as events from '../api/events/handlers.js'
import * as stored from '../api/events/stored.js'
import * as features from '../api/features/handlers.js'
import * as flags from '../api/flags/handlers.js'
import * as keys from '../api/keys/handlers.js'
import * as members from '../api/members/handlers.js'
import * as modelPrices from '../api/model-prices/handlers.js'
import * as traits from '../api/traits/handlers.js'
import { assertDistinct, del, get, post, put, type Route } from './route.js'

// biome-ignore format: one line per operation, however long.
export const routes: readonly Route[] = [
  get('/account-members', { scope: 'admin', environment: 'optional', query: members.memberListQuery, handle: members.listAccountMembers }),
  get('/account-members/count', { scope: 'admin', environment: 'optional', query: members.memberListQuery, handle: members.countAccountMembers }),
  get('/account-members/:account_member_id', { scope: 'admin', environment: 'optional', handle: members.getAccountMember }),
  get('/api-keys', { scope: 'admin', environment: 'optional', query: keys.keyListQuery, handle: keys.listApiKeys }),
  post('/api-keys', { scope: 'admin', environment: 'optional', status: 201, body: parseApiKeyCreate, handle: keys.createApiKey }),
  get('/api-keys/count', { scope: 'admin', environment: 'optional', query: keys.keyListQuery, handle: keys.countApiKeys }),
  get('/api-keys/:api_key_id', { scope: 'admin', environment: 'optional', handle: keys.getApiKey }),
  put('/api-keys/:api_key_id', { scope: 'admin', environment: 'optional', body: parseApiKeyUpdate, handle: keys.updateApiKey }),
  del('/api-keys/:api_key_id', { scope: 'admin', environment: 'optional', handle: keys.deleteApiKey }),
  post('/batch', { scope: 'capture', limit: 'ingest', raw: 'batch', environment: 'optional', keysInBody: events.keysOfBatch, handle: events.collect }),
  get('/entity-trait-definitions', { scope: 'read', query: traits.traitListQuery, handle: traits.listTraitDefinitions }),
  post('/entity-trait-definitions', { scope: 'write', body: parseTraitDefinitionCreate, handle: traits.getOrCreateTraitDefinition }),
  get('/entity-trait-definitions/count', { scope: 'read', query: traits.traitListQuery, handle: traits.countTraitDefinitions }),
  get('/entity-trait-definitions/:entity_trait_definition_id', { scope: 'read', handle: traits.getTraitDefinition }),
  put('/entity-trait-definitions/:entity_trait_definition_id', { scope: 'write', body: parseTraitDefinitionUpdate, handle: traits.updateTraitDefinition }),
  del('/entity-trait-definitions/:entity_trait_definition_id', { scope: 'write', handle: traits.deleteTraitDefinition }),
  get('/entity-trait-definitions/:entity_trait_definition_id/usage', { scope: 'read', handle: traits.getTraitDefinitionUsage }),
  get('/environments', { scope: 'admin', environment: 'optional', query: environments.environmentListQuery, handle: environments.listEnvironments }),
  post('/environments', { scope: 'admin', environment: 'optional', status: 201, body: parseEnvironmentCreate, handle: environments.createEnvironment }),
  get('/environments/:environment_id', { scope: 'admin', environment: 'optional', handle: environments.getEnvironment }),
  put('/environments/:environment_id', { scope: 'admin', environment: 'optional', body: parseEnvironmentUpdate, handle: environments.changeEnvironment }),
  del('/environments/:environment_id', { scope: 'admin', environment: 'optional', handle: environments.removeEnvironment }),
  get('/environments/:environment_id/clock', { scope: 'admin', environment: 'optional', handle: environments.getClock }),
  put('/environments/:environment_id/clock', { scope: 'admin', environment: 'optional', body: parseClockUpdate, handle: environments.setClock }),
  del('/environments/:environment_id/clock', { scope: 'admin', environment: 'optional', handle: environments.removeClock }),
  post('/event-batch', { scope: 'capture', limit: 'ingest', status: 201, raw: 'batch', handle: events.createEventBatch }),
  get('/event-types', { scope: 'read', query: stored.eventTypesQuery, handle: stored.listEventTypes }),
  get('/events', { scope: 'read', limit: 'analytics', query: stored.eventListQuery, handle: stored.listEvents }),
  post('/events', { scope: 'capture', limit: 'ingest', status: 201, raw: 'one', handle: events.createEvent }),
  get('/events/:event_id', { scope: 'read', handle: stored.getEvent }),
  get('/features', { scope: 'read', environment: 'optional', query: features.featureListQuery, handle: features.listFeatures }),
  post('/features', { scope: 'write', environment: 'optional', status: 201, body: parseFeatureCreate, handle: features.createFeature }),
  post('/features/billing-linked', { scope: 'write', environment: 'optional', status: 201, body: parseBillingLinkedFeatureCreate, handle: features.putBillingLinkedFeature }),
  get('/features/count', { scope: 'read', environment: 'optional', query: features.featureListQuery, handle: features.countFeatures }),
  get('/features/:feature_id', { scope: 'read', environment: 'optional', handle: features.getFeature }),
  put('/features/:feature_id', { scope: 'write', environment: 'optional', body: parseFeatureUpdate, handle: features.changeFeature }),
  del('/features/:feature_id', { scope: 'write', environment: 'optional', handle: features.deleteFeature }),
  get('/flags', { scope: 'read', environment: 'optional', query: flags.flagListQuery, handle: flags.listFlags }),
  post('/flags', { scope: 'write', environment: 'optional', status: 201, body: parseFlagWrite, handle: flags.createFlag }),
  post('/flags/check', { scope: 'check', limit: 'check', status: 201, body: parseCheck, handle: checks.checkFlags }),
  post('/flags/check-bulk', { scope: 'check', limit: 'check', status: 201, body: parseCheckBulk, handle: checks.checkFlagsBulk }),
  get('/flags/count', { scope: 'read', environment: 'optional', query: flags.flagListQuery, handle: flags.countFlags }),
  get('/flags/:flag_id', { scope: 'read', environment: 'optional', handle: flags.getFlag }),
  put('/flags/:flag_id', { scope: 'write', environment: 'optional', body: parseFlagWrite, handle: flags.changeFlag }),
  del('/flags/:flag_id', { scope: 'write', environment: 'optional', handle: flags.deleteFlag }),
  put('/flags/:flag_id/rules', { scope: 'write', body: parseRulesWrite, handle: flags.putRules }),
  post('/flags/:key/check', { scope: 'check', limit: 'check', body: parseCheck, handle: checks.checkFlag }),
  get('/licenses', { scope: 'read', environment: 'optional', query: features.licenseListQuery, handle: features.listLicenses }),
  get('/licenses/count', { scope: 'read', environment: 'optional', query: features.licenseListQuery, handle: features.countLicenses }),
  get('/licenses/:license_id', { scope: 'read', environment: 'optional', handle: features.getLicense }),
  get('/model-prices', { scope: 'read', environment: 'optional', handle: modelPrices.listModelPrices }),
  put('/model-prices', { scope: 'admin', environment: 'optional', body: parseModelPrices, handle: modelPrices.putModelPrices }),
  get('/whoami', { scope: 'any', environment: 'optional', handle: keys.whoAmI }),
]

assertDistinct(routes)
