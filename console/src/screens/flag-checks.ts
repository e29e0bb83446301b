// Checks of flags in the last 24 hours: how many were denied, and how many each rule decided.
import { useQuery } from '@tanstack/react-query'
import { api, type Schemas } from '../app/api.js'
import { count, figure, percent } from '../app/format.js'
import { useHere } from '../app/place.js'

type Checks = Schemas['FlagChecks']

/** Checks of all flags, by key. */
export function useChecksOfFlags() {
  const { environment } = useHere()
  const checks = useQuery({
    queryKey: [environment.id, 'flag-checks'],
    queryFn: () => api.get('/flag-checks', { query: { limit: 250 } }),
    refetchInterval: 30_000,
  })
  return new Map((checks.data ?? []).map(one => [one.flag_key, one]))
}

/** "12 (1.2 %)" of a flag's checks; "–": it was not checked. */
export const deniedWords = (of: Checks | undefined): string =>
  of === undefined ? '–' : `${figure(of.denied)} (${percent(of.denied, of.checks)})`

/** Checks of one flag by what decided them. */
export function useHits(flagKey: string | undefined) {
  const { environment } = useHere()
  const checks = useQuery({
    queryKey: [environment.id, 'flag-checks', flagKey],
    enabled: flagKey !== undefined,
    queryFn: () => api.get('/flag-checks', { query: { flag_key: flagKey!, by: ['reason'], limit: 250 } }),
    refetchInterval: 10_000,
  })
  const rows = checks.data
  const sum = (of: (row: Checks) => number) => rows?.reduce((all, row) => all + of(row), 0) ?? 0
  const all = sum(row => row.checks)
  const denied = sum(row => row.denied)
  return {
    /** "1,234 checks in 24 h, 1.2 % denied"; undefined: it is not known yet. */
    words:
      rows &&
      (all === 0 ? 'not checked in 24 h' : `${count(all, 'check')} in 24 h, ${percent(denied, all)} denied`),
    /** "decided 3 %" of a rule; undefined: there was no check. */
    ofRule: (id: string | undefined): string | undefined =>
      all === 0 || id === undefined
        ? undefined
        : `decided ${percent(
            sum(row => (row.reason?.includes(`(${id})`) ? row.checks : 0)),
            all,
          )}`,
  }
}
