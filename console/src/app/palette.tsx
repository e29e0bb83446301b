// The palette: one field that finds pages, commands, companies, users and definitions.
import { Dialog as Base } from '@base-ui/react/dialog'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useId, useRef, useState } from 'react'
import { api } from './api.js'
import { pages as shellPages } from './pages.js'
import { useGo, useHere } from './place.js'

interface Entry {
  readonly id: string
  readonly name: string
  readonly detail: string
  /** The page that it leads to. */
  readonly to: string
  readonly search?: Readonly<Record<string, string>>
  /** A user, who is shown on the page of a company. */
  readonly userId?: string
}

/** Something that is done at once. */
interface Command {
  readonly name: string
  readonly run: () => void
}

const pages: readonly Entry[] = shellPages.map(([to, name]) => ({ id: name, name, detail: 'page', to }))

/** Dialogs that add something, by the page that has them. */
const adding: readonly Entry[] = (
  [
    ['/companies', 'Add company'],
    ['/plans', 'Add plan'],
    ['/features', 'Add feature'],
    ['/flags', 'Add flag'],
    ['/credits', 'Add credit'],
    ['/webhooks', 'Add webhook'],
  ] as const
).map(([to, name]) => ({ id: name, name, detail: 'command', to, search: { add: 'yes' } }))

type Found = Entry | (Command & Pick<Entry, 'id' | 'detail'>)

/** The page of a user's company. */
async function placeOfUser(userId: string): Promise<Pick<Entry, 'to' | 'search'>> {
  const { company_memberships: all } = await api.get('/users/{user_id}', { path: { user_id: userId } })
  const [first] = all
  return first === undefined
    ? { to: '/companies' }
    : { to: `/companies/${first.company_id}`, search: { tab: 'users' } }
}

function placeOf(type: string, id: string, name: string): Pick<Entry, 'to' | 'search' | 'userId'> {
  switch (type) {
    case 'company':
      return { to: `/companies/${id}` }
    case 'flag':
      return { to: `/flags/${id}` }
    case 'plan':
      return { to: `/plans/${id}` }
    case 'feature':
      return { to: '/features', search: { q: name } }
    case 'credit':
      return { to: '/credits' }
    default:
      return { to: '/companies', userId: id }
  }
}

/** At once: the dialog would move the focus a moment later, and what is typed until then would be lost. */
const focused = (node: HTMLInputElement | null): void => node?.focus()

export default function Palette({
  commands,
  onClose,
}: {
  readonly commands: readonly Command[]
  readonly onClose: () => void
}) {
  const { environment, may } = useHere()
  const go = useGo()
  const list = useId()
  // the field takes the focus before the dialog could see where it was
  const before = useRef(document.activeElement as HTMLElement | null)
  const [typed, setTyped] = useState('')
  const [asked, setAsked] = useState('')
  const [at, setAt] = useState(0)
  useEffect(() => {
    const timer = setTimeout(() => setAsked(typed.trim()), 120)
    return () => clearTimeout(timer)
  }, [typed])
  const found = useQuery({
    queryKey: [environment.id, 'search', asked],
    enabled: asked !== '',
    queryFn: ({ signal }) => api.get('/search', { signal, query: { q: asked, limit: 20 } }),
    placeholderData: was => was,
  })
  const own: readonly Found[] = [
    ...pages,
    ...(may.write ? adding : []),
    ...commands.map(({ name, run }) => ({ id: name, name, detail: 'command', run })),
  ]
  const text = typed.trim().toLowerCase()
  const begins = ({ name }: Found) => name.toLowerCase().startsWith(text)
  const entries: readonly Found[] = [
    ...own.filter(begins),
    ...(text === '' ? [] : (found.data ?? [])).map(one => ({
      id: one.id,
      name: one.name,
      detail: one.detail ? `${one.type} · ${one.detail}` : one.type,
      ...placeOf(one.type, one.id, one.name),
    })),
    ...own.filter(one => !begins(one) && one.name.toLowerCase().includes(text)),
  ]
  const chosen = Math.min(at, Math.max(0, entries.length - 1))
  const open = (entry: Found | undefined) => {
    if (entry === undefined) return
    onClose()
    if ('run' in entry) return entry.run()
    if (entry.userId === undefined) return go(entry.to, entry.search)
    void placeOfUser(entry.userId)
      .catch(() => entry)
      .then(({ to, search }) => go(to, search))
  }
  return (
    <Base.Root open onOpenChange={isOpen => !isOpen && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-black/40" />
        <Base.Popup
          aria-label="Search"
          finalFocus={before.current === document.body ? false : before}
          className="fixed top-[10dvh] left-1/2 z-50 flex max-h-[80dvh] w-[calc(100vw-1.5rem)] max-w-xl -translate-x-1/2 flex-col overflow-hidden rounded-lg border border-line bg-panel shadow-xl"
        >
          <input
            ref={focused}
            role="combobox"
            aria-expanded="true"
            aria-controls={list}
            aria-activedescendant={entries.length > 0 ? `${list}-${chosen}` : undefined}
            aria-label="Search everything"
            className="w-full border-b border-line bg-panel px-4 py-3 text-base outline-none placeholder:text-muted"
            placeholder="Company, user, feature, flag, plan, page or command"
            value={typed}
            onInput={event => {
              setTyped(event.currentTarget.value)
              setAt(0)
            }}
            onKeyDown={event => {
              if (event.key === 'ArrowDown') setAt(Math.min(chosen + 1, entries.length - 1))
              else if (event.key === 'ArrowUp') setAt(Math.max(chosen - 1, 0))
              else if (event.key === 'Enter') open(entries[chosen])
              else return
              event.preventDefault()
            }}
          />
          <div id={list} role="listbox" aria-label="Found" className="min-h-0 overflow-y-auto p-1">
            {entries.map((entry, i) => (
              // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus and names the chosen entry
              // biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled by the field
              <div
                key={`${entry.detail} ${entry.id}`}
                id={`${list}-${i}`}
                role="option"
                aria-selected={i === chosen}
                className={`flex justify-between gap-3 rounded px-3 py-2 ${i === chosen ? 'bg-accent-soft' : ''}`}
                onClick={() => open(entry)}
                onMouseMove={() => setAt(i)}
              >
                <span className="truncate">{entry.name}</span>
                <span className="shrink-0 text-xs text-muted">{entry.detail}</span>
              </div>
            ))}
          </div>
          {entries.length === 0 && <p className="p-4 text-muted">Nothing is like this</p>}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}
