// A secret or link that is shown once, to be copied.
import { Button, CopyButton, Input } from './basics.js'
import { Dialog } from './dialog.js'

export interface Once {
  readonly title: string
  readonly note: string
  readonly value: string
}

export function ShownOnce({ once, onClose }: { readonly once: Once; readonly onClose: () => void }) {
  return (
    <Dialog open title={once.title} onClose={onClose}>
      <p className="mb-3 text-muted">{once.note}</p>
      <Input
        readOnly
        aria-label={once.title}
        className="font-mono text-xs"
        value={once.value}
        onFocus={event => event.currentTarget.select()}
      />
      <div className="mt-4 flex justify-end gap-2">
        <CopyButton text={once.value} />
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  )
}
