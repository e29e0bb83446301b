// Names of companies by their ids.
import { useQuery } from '@tanstack/react-query'
import { api, Refused, type Schemas } from '../app/api.js'
import { useHere } from '../app/place.js'

/** Companies that one request asks for. */
const atOnce = 100

/** Names of these companies, as far as they are known; deleted ones are missing. */
export function useCompanyNames(all: readonly string[]): ReadonlyMap<string, string> {
  const { environment } = useHere()
  const ids = [...new Set(all)].sort()
  const found = useQuery({
    queryKey: [environment.id, 'companies', 'names', ids],
    enabled: ids.length > 0,
    placeholderData: was => was,
    queryFn: async () => {
      const parts: string[][] = []
      for (let at = 0; at < ids.length; at += atOnce) parts.push(ids.slice(at, at + atOnce))
      const lists = await Promise.all(
        parts.map(
          part =>
            api.get('/companies', { query: { view: 'summary', ids: part, limit: atOnce } }) as Promise<
              Schemas['CompanySummary'][]
            >,
        ),
      )
      return new Map(lists.flat().map(one => [one.id, one.name]))
    },
  })
  return found.data ?? none
}

const none: ReadonlyMap<string, string> = new Map()

const companyId = /\bcomp_\w+/g

/** For `catch`: the refusal with names in place of the ids of companies. Those of other environments keep their ids. */
export async function withCompanyNames(error: unknown): Promise<never> {
  const ids = error instanceof Refused ? [...new Set(error.message.match(companyId))] : []
  if (ids.length === 0) throw error
  const found = (await api.get('/companies', {
    query: { view: 'summary', ids, limit: ids.length },
  })) as Schemas['CompanySummary'][]
  const names = new Map(found.map(one => [one.id, one.name]))
  const { status, message } = error as Refused
  throw new Refused(
    status,
    message.replaceAll(companyId, id => names.get(id) || id),
  )
}
