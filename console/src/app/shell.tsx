// The frame of every page: environment, search, theme, and the list of pages.
import { useQueryClient } from '@tanstack/react-query'
import { Link, Outlet, useLocation, useNavigate, useParams } from '@tanstack/react-router'
import { LogOut, Menu, Moon, Search, Sun } from 'lucide-react'
import { lazy, Suspense, useEffect, useState } from 'react'
import { Badge, Button, Choice } from '../ui/basics.js'
import { setEnvironment, signOut } from './api.js'
import { pages } from './pages.js'
import { useWho } from './session.js'
import { type Theme, useTheme } from './theme.js'

const loadPalette = () => import('./palette.js')
const Palette = lazy(loadPalette)
/** The calls of the page itself come first. */
const paletteAfterMs = 500

export function Shell() {
  const who = useWho()
  const { env } = useParams({ strict: false }) as { env?: string }
  const environment = who.environments.find(one => one.id === env)
  const navigate = useNavigate()
  const first = who.environments[0]
  useEffect(() => {
    if (environment === undefined && first !== undefined)
      void navigate({
        to: `/${lastEnvironment(who.environments.map(one => one.id)) ?? first.id}/overview` as never,
        replace: true,
      })
  }, [environment, first, navigate, who])
  if (first === undefined) return <p className="p-8">You have no role in any environment. Ask an admin.</p>
  if (environment === undefined) return null
  setEnvironment(environment.id)
  sessionStorage.setItem('tollgate-environment', environment.id)
  return (
    <Frame
      key={environment.id}
      id={environment.id}
      production={environment.environment_type === 'production'}
      type={environment.environment_type}
    />
  )
}

/** The environment that this browser tab had last. */
function lastEnvironment(ids: readonly string[]): string | null {
  const kept = sessionStorage.getItem('tollgate-environment')
  return kept !== null && ids.includes(kept) ? kept : null
}

function Frame({
  id,
  production,
  type,
}: {
  readonly id: string
  readonly production: boolean
  readonly type: string
}) {
  const who = useWho()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const [menu, setMenu] = useState(false)
  const [palette, setPalette] = useState(false)
  const [theme, toggleTheme] = useTheme()
  const { pathname } = useLocation()
  const leave = async () => {
    await signOut().catch(() => {})
    queries.clear()
    location.reload()
  }
  const changeTo = (environment: string) => {
    // Another environment does not have this company, plan or flag: its list is shown there.
    const [, , page = 'overview', part] = pathname.split('/')
    const rest = page === 'preview' ? `${page}/${part}` : page
    void navigate({ to: `/${environment}/${rest}` as never })
  }
  const commands = [
    ...who.environments
      .filter(one => one.id !== id)
      .map(one => ({ name: `Change to ${one.name}`, run: () => changeTo(one.id) })),
    { name: otherTheme(theme), run: toggleTheme },
    { name: 'Sign out', run: () => void leave() },
  ]
  useEffect(() => setMenu(false), [pathname])
  // loaded before it is asked for: what is typed right after Ctrl K is not lost
  useEffect(() => {
    const timer = setTimeout(() => void loadPalette().catch(() => {}), paletteAfterMs)
    return () => clearTimeout(timer)
  }, [])
  useEffect(() => {
    const opened = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'k') return
      event.preventDefault()
      setPalette(true)
    }
    addEventListener('keydown', opened)
    return () => removeEventListener('keydown', opened)
  }, [])
  return (
    <div className={`flex h-full flex-col border-t-4 ${production ? 'border-danger' : 'border-accent'}`}>
      <button
        type="button"
        className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-panel focus:p-3"
        onClick={() => document.getElementById('content')?.focus()}
      >
        Skip to the page
      </button>
      <TopBar
        id={id}
        production={production}
        type={type}
        onMenu={() => setMenu(was => !was)}
        menu={menu}
        onSearch={() => setPalette(true)}
        changeTo={changeTo}
        theme={theme}
        toggleTheme={toggleTheme}
        leave={leave}
      />
      <div className="flex min-h-0 flex-1">
        <nav
          aria-label="Pages"
          className={`${menu ? 'absolute inset-x-0 top-[3.75rem] bottom-0 z-30 block' : 'hidden'} w-full shrink-0 overflow-y-auto border-r border-line bg-panel p-2 md:static md:block md:w-56`}
        >
          {pages.map(([path, name, Icon]) => (
            <Link
              key={path}
              to={`/${id}${path}` as never}
              className="flex items-center gap-2.5 rounded-md px-3 py-2 hover:bg-raised [&.active]:bg-accent-soft [&.active]:font-semibold [&.active]:text-accent"
            >
              <Icon size={16} aria-hidden="true" />
              {name}
            </Link>
          ))}
        </nav>
        <main id="content" tabIndex={-1} className="min-w-0 flex-1 overflow-y-auto outline-none">
          <Suspense
            fallback={
              <p className="p-6 text-muted" role="status">
                Loading
              </p>
            }
          >
            <Outlet />
          </Suspense>
        </main>
      </div>
      <Suspense>{palette && <Palette commands={commands} onClose={() => setPalette(false)} />}</Suspense>
    </div>
  )
}

const otherTheme = (theme: Theme): string => (theme === 'dark' ? 'Light colours' : 'Dark colours')

function TopBar({
  id,
  production,
  type,
  menu,
  onMenu,
  onSearch,
  changeTo,
  theme,
  toggleTheme,
  leave,
}: {
  readonly id: string
  readonly production: boolean
  readonly type: string
  readonly menu: boolean
  readonly onMenu: () => void
  readonly onSearch: () => void
  readonly changeTo: (environment: string) => void
  readonly theme: Theme
  readonly toggleTheme: () => void
  readonly leave: () => Promise<void>
}) {
  const who = useWho()
  return (
    <header className="flex h-14 shrink-0 items-center gap-2 border-b border-line bg-panel px-3 sm:px-4">
      <Button className="md:hidden" aria-label="Pages" aria-expanded={menu} onClick={onMenu}>
        <Menu size={16} aria-hidden="true" />
      </Button>
      <span className="hidden font-semibold sm:inline">Tollgate</span>
      <Choice
        aria-label="Environment"
        className="max-w-44"
        value={id}
        options={who.environments.map(one => [one.id, one.name] as const)}
        onChange={event => changeTo(event.currentTarget.value)}
      />
      <span className="hidden sm:inline">
        <Badge tone={production ? 'danger' : 'plain'}>{production ? 'PRODUCTION' : type}</Badge>
      </span>
      <span className="flex-1" />
      <Button onClick={onSearch}>
        <Search size={16} aria-hidden="true" />
        <span className="sr-only md:not-sr-only">Search</span>
        <kbd className="hidden rounded border border-line px-1 text-xs text-muted md:inline">Ctrl K</kbd>
      </Button>
      <Button onClick={toggleTheme} aria-label={otherTheme(theme)}>
        {theme === 'dark' ? <Sun size={16} aria-hidden="true" /> : <Moon size={16} aria-hidden="true" />}
      </Button>
      <Button
        onClick={() => void leave()}
        aria-label={`Sign out ${who.name}`}
        title={`Signed in as ${who.name}`}
      >
        <LogOut size={16} aria-hidden="true" />
        <span className="hidden max-w-32 truncate lg:inline">{who.name}</span>
      </Button>
    </header>
  )
}
