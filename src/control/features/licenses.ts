// Licences: units of features that companies buy by the seat. Features that need one make it.
import type { License } from '../../../schemas/features.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import { list, page, type QueryOf, query, text } from '../../kit/query.js'
import { isoTime } from '../../kit/time.js'
import {
  countLicenseRows,
  findLicense,
  type LicenseFilter,
  type LicenseRow,
  listLicenseRows,
} from './store.js'

const licenseShape = { feature_ids: list, ids: list, name: text(255), ...page } as const
export const licenseListQuery = query(licenseShape)
type LicenseListQuery = QueryOf<typeof licenseShape>

function licenseFilterOf({ key, query }: Call<undefined, LicenseListQuery>): LicenseFilter {
  return { accountId: key.accountId, featureIds: query.feature_ids, ids: query.ids, name: query.name }
}

function licenseView(row: LicenseRow): License {
  return {
    id: row.id,
    name: row.name,
    created_at: isoTime(row.created_at.getTime()),
    updated_at: isoTime(row.updated_at.getTime()),
  }
}

/** GET /licenses. */
export const listLicenses: Handler<undefined, LicenseListQuery> = async call => {
  const rows = await listLicenseRows(call.services.sql, licenseFilterOf(call), call.query)
  return { data: rows.map(licenseView) }
}

/** GET /licenses/count. */
export const countLicenses: Handler<undefined, LicenseListQuery> = async call => ({
  data: { count: await countLicenseRows(call.services.sql, licenseFilterOf(call)) },
})

/** GET /licenses/{license_id}. */
export const getLicense: Handler = async ({ services, key, params }) => {
  const row = await findLicense(services.sql, key.accountId, params.license_id!)
  if (!row) throw new ServiceError('not_found', 'License not found')
  return { data: licenseView(row) }
}
