// Brief views of companies, read from their actors.
import type { Company } from '../../../schemas/companies.js'
import type { EntityBrief } from '../../core/model/entity-state.js'
import type { EntityPlace } from '../../kit/entities.js'
import { companyBrief } from './view.js'

/** Brief views of companies by id; deleted ones are left out. */
export async function companyBriefs(
  { services, environment, nowMs }: EntityPlace,
  ids: Iterable<string>,
): Promise<Map<string, Company>> {
  const answers = await Promise.all(
    [...new Set(ids)].map(id =>
      services.shards.ask<EntityBrief | null>('c', environment.id, id, { type: 'brief' }, nowMs),
    ),
  )
  const briefs = answers.map(({ reply }) => reply).filter(company => company !== null)
  return new Map(briefs.map(company => [company.id, companyBrief(company)]))
}
