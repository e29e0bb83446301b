// A dialog over the page: Base UI keeps the focus inside, gives it to the first field, and gives it back.
import { Dialog as Base } from '@base-ui/react/dialog'
import { X } from 'lucide-react'
import { createContext, type ReactNode, useContext } from 'react'

/** Whether something is asked over the page: its dialogs are not seen meanwhile, and keep what was typed. */
export const IsAsked = createContext(false)

export function Dialog({
  open,
  title,
  onClose,
  children,
  wide = false,
}: {
  readonly open: boolean
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
  readonly wide?: boolean
}) {
  // not by visibility: a dialog that opens meanwhile takes the focus
  const hidden = useContext(IsAsked) ? 'pointer-events-none opacity-0' : ''
  return (
    <Base.Root open={open} onOpenChange={isOpen => !isOpen && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={`fixed inset-0 z-40 bg-black/40 ${hidden}`} />
        <Base.Popup
          className={`${hidden} fixed top-1/2 left-1/2 z-50 max-h-[92dvh] w-[calc(100vw-1.5rem)] -translate-x-1/2 -translate-y-1/2 overflow-y-auto rounded-lg border border-line bg-panel p-5 shadow-xl ${wide ? 'max-w-3xl' : 'max-w-md'}`}
        >
          <Base.Title className="mb-3 pr-8 text-lg font-semibold">{title}</Base.Title>
          {children}
          {/* last, so that the first field has the focus */}
          <Base.Close className="absolute top-4 right-4 rounded p-1 hover:bg-raised" aria-label="Close">
            <X size={18} aria-hidden="true" />
          </Base.Close>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}
