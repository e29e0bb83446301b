// Where one is: the environment and the page in the address, links to other pages, and filters in the address.
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type Environment, useMay, useWho } from './session.js'

/** The environment that the address names. */
export function useEnvironment(): Environment {
  const { env } = useParams({ strict: false }) as { env?: string }
  const { environments } = useWho()
  return environments.find(one => one.id === env) ?? environments[0]!
}

/** Rights in this environment, and whether it is production. */
export function useHere() {
  const environment = useEnvironment()
  return {
    environment,
    production: environment.environment_type === 'production',
    may: useMay(environment.id),
  }
}

/** A link inside this environment: `/companies/comp_…`. */
export function Go({
  to,
  search,
  className = 'text-accent hover:underline',
  children,
  ...rest
}: {
  readonly to: string
  readonly search?: Readonly<Record<string, string | undefined>>
  readonly className?: string
  readonly children: ReactNode
  readonly [name: `aria-${string}`]: string | undefined
}) {
  const { id } = useEnvironment()
  return (
    <Link to={`/${id}${to}` as never} search={(search ?? {}) as never} className={className} {...rest}>
      {children}
    </Link>
  )
}

/** Go to a page of this environment. */
export function useGo() {
  const navigate = useNavigate()
  const { id } = useEnvironment()
  return (to: string, search: Readonly<Record<string, string | undefined>> = {}) =>
    void navigate({ to: `/${id}${to}` as never, search: search as never })
}

/** Whether the dialog that adds something is open; it is in the address, so that the palette leads to it. */
export function useAdding(): [isAdding: boolean, set: (isAdding: boolean) => void] {
  const [filters, setFilters] = useFilters()
  return [filters.add === 'yes', isAdding => setFilters({ add: isAdding ? 'yes' : undefined })]
}

/** Filters in the address: they outlive a reload, and a link has them. */
export function useFilters(): [
  filters: Readonly<Record<string, string | undefined>>,
  set: (change: Readonly<Record<string, string | undefined>>) => void,
] {
  const search = useSearch({ strict: false }) as Record<string, string | undefined>
  const navigate = useNavigate()
  return [
    search,
    change =>
      void navigate({
        to: '.' as never,
        replace: true,
        search: ((was: object) =>
          Object.fromEntries(Object.entries({ ...was, ...change }).filter(([, value]) => value))) as never,
      }),
  ]
}
