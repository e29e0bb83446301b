// A dialog with a few fields; what they would change is shown before it is done.
import { type ReactNode, useState } from 'react'
import { type Act, useAct } from './act.js'
import { Button, Choice, Failure, Field, Input, TextArea } from './basics.js'
import { Dialog } from './dialog.js'

export interface FormField {
  readonly name: string
  readonly label: string
  /** `many`: any of the options; the value has them separated by spaces. */
  readonly kind?: 'text' | 'number' | 'choice' | 'many' | 'long' | 'datetime-local' | 'email' | 'url'
  readonly options?: readonly (readonly [value: string, text: string])[]
  readonly hint?: string
  readonly optional?: boolean
  readonly initial?: string
  /** Shown only for these values. */
  readonly when?: (values: Values) => boolean
}

export type Values = Readonly<Record<string, string>>

export function FormDialog({
  title,
  fields,
  note,
  act,
  onClose,
  onDone,
}: {
  readonly title: string
  readonly fields: readonly FormField[]
  /** Shown under the fields. */
  readonly note?: ReactNode
  /** What the values would do. It may throw an Error for the person to read. */
  readonly act: (values: Values) => Act
  readonly onClose: () => void
  readonly onDone?: () => void
}) {
  const ask = useAct()
  const [typed, setTyped] = useState<Values>({})
  // An initial value may come later than the dialog; it never replaces a value that somebody typed.
  const values: Values = Object.fromEntries(
    fields.map(({ name, kind, initial, options }) => [
      name,
      typed[name] ?? initial ?? (kind === 'choice' ? options?.[0]?.[0] : null) ?? '',
    ]),
  )
  const [failure, setFailure] = useState<unknown>(null)
  const shown = fields.filter(({ when }) => when === undefined || when(values))
  const set = (name: string) => (event: { currentTarget: { value: string } }) => {
    const { value } = event.currentTarget
    setTyped(was => ({ ...was, [name]: value }))
  }
  const submit = async () => {
    setFailure(null)
    try {
      if (!(await ask(act(values)))) return
      onClose()
      onDone?.()
    } catch (error) {
      setFailure(error)
    }
  }
  return (
    <Dialog open title={title} onClose={onClose}>
      <form
        onSubmit={event => {
          event.preventDefault()
          void submit()
        }}
      >
        {shown.map(({ name, label, kind = 'text', options = [], hint, optional }) => (
          <Field
            key={name}
            label={optional && kind !== 'choice' ? `${label} (optional)` : label}
            hint={hint}
            isGroup={kind === 'many'}
          >
            {id => {
              const common = { id, value: values[name] ?? '', required: optional !== true }
              if (kind === 'many')
                return (
                  <Many
                    options={options}
                    value={values[name] ?? ''}
                    onChange={value => setTyped(was => ({ ...was, [name]: value }))}
                  />
                )
              if (kind === 'choice') return <Choice {...common} options={options} onChange={set(name)} />
              if (kind === 'long') return <TextArea {...common} rows={4} onInput={set(name)} />
              return (
                <Input
                  {...common}
                  type={kind}
                  {...(kind === 'number' && { step: 'any' })}
                  onInput={set(name)}
                />
              )
            }}
          </Field>
        ))}
        {note}
        {failure !== null && <Failure error={failure} />}
        <div className="mt-4 flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit">
            Continue
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** A box to tick for each option. */
function Many({
  options,
  value,
  onChange,
}: {
  readonly options: readonly (readonly [value: string, text: string])[]
  readonly value: string
  readonly onChange: (value: string) => void
}) {
  const chosen = new Set(value.split(' ').filter(Boolean))
  return (
    <div className="max-h-56 overflow-y-auto rounded-md border border-line px-2.5 py-1.5">
      {options.map(([id, text]) => (
        <label key={id} className="flex min-h-7 items-center gap-2">
          <input
            type="checkbox"
            className="size-4 shrink-0 accent-accent"
            checked={chosen.has(id)}
            onChange={event => {
              if (event.currentTarget.checked) chosen.add(id)
              else chosen.delete(id)
              onChange(options.flatMap(([one]) => (chosen.has(one) ? [one] : [])).join(' '))
            }}
          />
          {text}
        </label>
      ))}
    </div>
  )
}

/** A line for each value that is given, as something new. */
export const asNew = (lines: readonly (readonly [what: string, after: string | undefined])[]) =>
  lines.filter(([, after]) => after).map(([what, after]) => ({ what, before: null, after }))
