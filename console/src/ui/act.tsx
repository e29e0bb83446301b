// Every change goes this way: what it changes is shown first, in production its name may have to be typed, and where the
// inverse exists the notice that follows undoes it.
import { Toast } from '@base-ui/react/toast'
import { useQueryClient } from '@tanstack/react-query'
import {
  createContext,
  type FormEvent,
  type ReactNode,
  useCallback,
  useContext,
  useMemo,
  useState,
} from 'react'
import { Button, Failure, Field, Input } from './basics.js'
import { Dialog, IsAsked } from './dialog.js'

/** A line of what changes. */
export interface Difference {
  readonly what: string
  readonly before: ReactNode
  readonly after: ReactNode
}

export interface Act {
  readonly title: string
  /** The word on the button. */
  readonly verb: string
  readonly differences: readonly Difference[]
  readonly note?: ReactNode
  /** Must be typed before it is done. */
  readonly typed?: string | undefined
  readonly danger?: boolean
  readonly run: () => Promise<unknown>
  /** The notice afterwards. */
  readonly done: string
  /** Called afterwards where the page shows something that is gone: the page is left, and nothing of it is read again. */
  readonly leave?: () => void
  readonly undo?: (() => Promise<unknown>) | undefined
}

const Context = createContext<(act: Act) => Promise<boolean>>(() => Promise.resolve(false))

/** Show what an act changes, do it when it is confirmed, and offer to undo it. Resolves with whether it was done. */
export const useAct = () => useContext(Context)

interface Open {
  readonly act: Act
  readonly settle: (done: boolean) => void
}

export function ActProvider({ children }: { readonly children: ReactNode }) {
  const [open, setOpen] = useState<Open | null>(null)
  const ask = useCallback((act: Act) => new Promise<boolean>(settle => setOpen({ act, settle })), [])
  const close = useCallback(
    (done: boolean) =>
      setOpen(was => {
        was?.settle(done)
        return null
      }),
    [],
  )
  const manager = useMemo(() => Toast.createToastManager(), [])
  return (
    <Toast.Provider toastManager={manager} timeout={30_000}>
      <Context.Provider value={ask}>
        <IsAsked.Provider value={open !== null}>{children}</IsAsked.Provider>
        {open && <Confirm key={open.act.title} act={open.act} onClose={close} />}
        <Notices />
      </Context.Provider>
    </Toast.Provider>
  )
}

/** Enter does what is asked for; a danger has to be chosen. */
const focused = (node: HTMLButtonElement | null): void => node?.focus()

function Confirm({ act, onClose }: { readonly act: Act; readonly onClose: (done: boolean) => void }) {
  const queries = useQueryClient()
  const notices = Toast.useToastManager()
  const [typed, setTyped] = useState('')
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>(null)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setFailure(null)
    try {
      await act.run()
      await queries.invalidateQueries({ refetchType: act.leave ? 'none' : 'active' })
      act.leave?.()
      const { undo } = act
      const id: string = notices.add({
        title: act.done,
        ...(undo && {
          actionProps: {
            children: 'Undo',
            onClick: () => {
              void undo()
                .then(() => queries.invalidateQueries())
                .then(() => notices.update(id, { title: 'Undone', actionProps: undefined }))
                .catch((error: Error) => notices.update(id, { title: error.message, actionProps: undefined }))
            },
          },
        }),
      })
      onClose(true)
    } catch (error) {
      setFailure(error)
      setBusy(false)
    }
  }
  return (
    <Dialog open title={act.title} onClose={() => onClose(false)}>
      <form onSubmit={submit}>
        {act.differences.length > 0 && (
          <dl className="mb-3 divide-y divide-line rounded-md border border-line">
            {act.differences.map(({ what, before, after }) => (
              <div key={what} className="grid grid-cols-[7rem_1fr] gap-2 px-3 py-2">
                <dt className="text-muted">{what}</dt>
                <dd className="min-w-0">
                  {before !== null && before !== undefined && (
                    <>
                      <del className="mr-1 text-muted">{before}</del>{' '}
                    </>
                  )}
                  <ins className="font-medium no-underline">{after}</ins>
                </dd>
              </div>
            ))}
          </dl>
        )}
        {act.note && <div className="mb-3 text-muted">{act.note}</div>}
        {act.typed && (
          <Field label={`Production feels this: type ${act.typed}`}>
            {id => (
              <Input
                id={id}
                value={typed}
                autoComplete="off"
                onChange={event => setTyped(event.currentTarget.value)}
              />
            )}
          </Field>
        )}
        {failure !== null && <Failure error={failure} />}
        <div className="mt-4 flex justify-end gap-2">
          <Button onClick={() => onClose(false)}>Cancel</Button>
          <Button
            look={act.danger ? 'danger' : 'primary'}
            type="submit"
            {...(!act.danger && act.typed === undefined && { ref: focused })}
            disabled={busy || (act.typed !== undefined && typed.trim() !== act.typed.trim())}
          >
            {act.verb}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

function Notices() {
  const { toasts } = Toast.useToastManager()
  return (
    <Toast.Portal>
      <Toast.Viewport className="fixed right-4 bottom-4 z-60 flex w-[min(24rem,calc(100vw-2rem))] flex-col gap-2">
        {toasts.slice(0, 1).map(toast => (
          <Toast.Root
            key={toast.id}
            toast={toast}
            className="flex items-center gap-3 rounded-md border border-line bg-panel p-3 shadow-lg"
          >
            <Toast.Title className="min-w-0 flex-1" />
            {toast.actionProps && (
              <Toast.Action className="rounded px-2 py-1 font-medium text-accent hover:bg-raised" />
            )}
            <Toast.Close aria-label="Close" className="rounded px-2 py-1 text-muted hover:bg-raised">
              ×
            </Toast.Close>
          </Toast.Root>
        ))}
      </Toast.Viewport>
    </Toast.Portal>
  )
}
