// A secret or link that is shown once, to be copied.
import { useState } from 'react'
import { Button, Input } from './basics.js'
import { Dialog } from './dialog.js'

export interface Once {
  readonly title: string
  readonly note: string
  readonly value: string
}

export function ShownOnce({ once, onClose }: { readonly once: Once; readonly onClose: () => void }) {
  const [isCopied, setIsCopied] = useState(false)
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
        <Button onClick={() => void navigator.clipboard?.writeText(once.value).then(() => setIsCopied(true))}>
          {isCopied ? 'Copied' : 'Copy'}
        </Button>
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  )
}
