// Starts the console: routes in the hash, queries, and the gate that asks who is there.
import { CSPProvider } from '@base-ui/react/csp-provider'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import {
  createHashHistory,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  RouterProvider,
} from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { base, isPassing, unanswered } from './app/api.js'
import { SessionGate } from './app/session.js'
import { Shell } from './app/shell.js'
import './app/theme.js'
import './styles.css'
import { ActProvider } from './ui/act.js'
import { Failure } from './ui/basics.js'

const root = createRootRoute({ component: Shell })
const screen = (path: string, load: () => Promise<{ default: unknown }>) =>
  createRoute({
    getParentRoute: () => root,
    path: `/$env${path}`,
    component: lazyRouteComponent((() => load().catch(notLoaded)) as never),
  })

/** The file of a screen could not be loaded: an update renamed it, or the service does not answer. */
class NotLoadedError extends Error {}

/** The router would load the page again at once, and a service that is away would leave the browser's own error there. */
function notLoaded(cause: unknown): never {
  throw new NotLoadedError('A screen was not loaded', { cause })
}

const isNotLoaded = (error: unknown): boolean =>
  error instanceof NotLoadedError || /dynamically imported module/i.test(String(error))

function Broken({ error }: { readonly error: unknown }) {
  if (isNotLoaded(error)) return <NotLoaded />
  return (
    <div className="p-6">
      <Failure error={error} retry={() => location.reload()} />
    </div>
  )
}

/** Milliseconds between two questions whether the service answers again. */
const askAgainMs = 4_000

/** A screen whose file could not be loaded. The page is loaded again when a service that was away answers. */
function NotLoaded() {
  const [isAway, setIsAway] = useState(false)
  useEffect(() => {
    let wasAway = false
    const ask = async () => {
      const answers = await fetch(base).then(
        ({ ok }) => ok,
        () => false,
      )
      if (answers && wasAway) location.reload()
      wasAway ||= !answers
      setIsAway(!answers)
    }
    void ask()
    const timer = setInterval(() => void ask(), askAgainMs)
    return () => clearInterval(timer)
  }, [])
  const words = isAway ? unanswered() : 'This part of the page cannot be loaded: Tollgate was updated'
  return (
    <div className="p-6">
      <Failure error={words} retry={() => location.reload()} />
    </div>
  )
}

const router = createRouter({
  defaultErrorComponent: Broken,
  history: createHashHistory(),
  // filters are plain texts in the address
  parseSearch: text => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: values => {
    const text = new URLSearchParams(
      Object.entries(values).flatMap(([name, value]) => (value ? [[name, String(value)]] : [])),
    ).toString()
    return text === '' ? '' : `?${text}`
  },
  routeTree: root.addChildren([
    screen('/overview', () => import('./screens/overview.js')),
    screen('/companies', () => import('./screens/companies.js')),
    screen('/companies/$id', () => import('./screens/company.js')),
    screen('/why', () => import('./screens/why.js')),
    screen('/plans', () => import('./screens/plans.js')),
    screen('/plans/$id', () => import('./screens/plan.js')),
    screen('/features', () => import('./screens/features.js')),
    screen('/flags', () => import('./screens/flags.js')),
    screen('/flags/$id', () => import('./screens/flag.js')),
    screen('/credits', () => import('./screens/credits.js')),
    screen('/charges', () => import('./screens/charges.js')),
    screen('/events', () => import('./screens/events.js')),
    screen('/webhooks', () => import('./screens/webhooks.js')),
    screen('/keys', () => import('./screens/keys.js')),
    screen('/audit', () => import('./screens/audit.js')),
    screen('/system', () => import('./screens/system.js')),
    screen('/preview/plans', () => import('./screens/preview.js')),
    screen('/ui', () => import('./screens/ui.js')),
    createRoute({ getParentRoute: () => root, path: '/' }),
    createRoute({ getParentRoute: () => root, path: '$' }),
  ]),
})

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // A screen that is opened is read anew, however lately it was seen: another person or a server may have changed it.
      refetchOnMount: 'always',
      refetchOnWindowFocus: true,
      // A refusal is final. A service that does not answer is asked again until it answers.
      retry: (_, error) => isPassing(error),
      retryDelay: failures => Math.min(500 * 2 ** failures, 8_000),
    },
  },
})

// the files of the screen come while the session is asked for
void router.load()

createRoot(document.getElementById('root')!).render(
  <CSPProvider disableStyleElements>
    <QueryClientProvider client={queries}>
      <SessionGate>
        <ActProvider>
          <RouterProvider router={router} />
        </ActProvider>
      </SessionGate>
    </QueryClientProvider>
  </CSPProvider>,
)
