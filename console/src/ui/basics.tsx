// The small parts of every page: buttons, cards, fields, badges, bars, and what to show when there is nothing.
import { AlertTriangle } from 'lucide-react'
import type { ComponentProps, ReactNode } from 'react'
import { useEffect, useId, useRef, useState } from 'react'
import { Refused } from '../app/api.js'
import { type Figure, figure, shortFigure } from '../app/format.js'

const looks = {
  plain: 'border border-line bg-panel hover:bg-raised',
  primary: 'bg-accent text-accent-text hover:opacity-90',
  danger: 'border border-danger text-danger hover:bg-danger-soft',
  quiet: 'text-accent hover:underline',
} as const

export function Button({
  look = 'plain',
  className = '',
  ...rest
}: ComponentProps<'button'> & { readonly look?: keyof typeof looks }) {
  return (
    <button
      type="button"
      className={`inline-flex items-center justify-center gap-2 rounded-md font-medium whitespace-nowrap disabled:opacity-50 ${look === 'quiet' ? 'min-h-6 min-w-6 px-1' : 'min-h-9 px-3 py-1.5'} ${looks[look]} ${className}`}
      {...rest}
    />
  )
}

/** A button that copies a text and then reads "Copied". */
export function CopyButton({
  text,
  children = 'Copy',
  ...rest
}: ComponentProps<typeof Button> & { readonly text: string }) {
  const [isCopied, setIsCopied] = useState(false)
  return (
    <Button {...rest} onClick={() => void navigator.clipboard?.writeText(text).then(() => setIsCopied(true))}>
      {isCopied ? 'Copied' : children}
    </Button>
  )
}

export function Card({
  title,
  aside,
  children,
  className = '',
}: {
  readonly title?: ReactNode
  readonly aside?: ReactNode
  readonly children: ReactNode
  readonly className?: string
}) {
  return (
    <section className={`min-w-0 rounded-lg border border-line bg-panel p-4 ${className}`}>
      {(title || aside) && (
        <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
          <h2 className="font-semibold">{title}</h2>
          {aside}
        </div>
      )}
      {children}
    </section>
  )
}

export function Stat({
  label,
  value,
  note,
}: {
  readonly label: string
  readonly value: ReactNode
  readonly note?: ReactNode
}) {
  return (
    <div className="rounded-lg border border-line bg-panel p-4">
      <div className="text-xs text-muted">{label}</div>
      <div className="text-xl font-semibold tabular-nums">{value}</div>
      {note && <div className="text-xs text-muted">{note}</div>}
    </div>
  )
}

const tones = {
  plain: 'bg-raised text-text',
  accent: 'bg-accent-soft text-accent',
  ok: 'bg-ok-soft text-ok',
  warn: 'bg-warn-soft text-warn',
  danger: 'bg-danger-soft text-danger',
} as const
export type Tone = keyof typeof tones

export function Badge({
  tone = 'plain',
  className = '',
  children,
}: {
  readonly tone?: Tone
  readonly className?: string
  readonly children: ReactNode
}) {
  return (
    <span className={`inline-block rounded px-1.5 py-0.5 text-xs font-medium ${tones[tone]} ${className}`}>
      {children}
    </span>
  )
}

export function Code({ children }: { readonly children: ReactNode }) {
  return <code className="rounded bg-raised px-1.5 py-0.5 font-mono text-xs">{children}</code>
}

/** A text as it was sent, in a box that scrolls. */
export function Raw({
  children,
  className = '',
}: {
  readonly children: string
  readonly className?: string
}) {
  return (
    <pre
      className={`max-h-72 overflow-auto rounded bg-raised p-3 font-mono text-xs break-all whitespace-pre-wrap ${className}`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
      tabIndex={0}
    >
      {children}
    </pre>
  )
}

const inputLook =
  'min-h-9 w-full min-w-0 rounded-md border border-line bg-panel px-2.5 py-1.5 text-text placeholder:text-muted'

/** A labelled field: its label, the input, and a hint. `isGroup`: several inputs under one label. */
export function Field({
  label,
  hint,
  isGroup = false,
  children,
}: {
  readonly label: string
  readonly hint?: ReactNode
  readonly isGroup?: boolean
  readonly children: (id: string) => ReactNode
}) {
  const id = useId()
  if (isGroup)
    return (
      <fieldset className="mb-3">
        <legend className="mb-1 text-xs font-medium text-muted">{label}</legend>
        {children(id)}
        {hint && <p className="mt-1 text-xs text-muted">{hint}</p>}
      </fieldset>
    )
  return (
    <div className="mb-3">
      <label htmlFor={id} className="mb-1 block text-xs font-medium text-muted">
        {label}
      </label>
      {children(id)}
      {hint && <p className="mt-1 text-xs text-muted">{hint}</p>}
    </div>
  )
}

export function Input({ className = '', ...rest }: ComponentProps<'input'>) {
  return <input className={`${inputLook} ${className}`} {...rest} />
}

export function TextArea({ className = '', ...rest }: ComponentProps<'textarea'>) {
  return <textarea className={`${inputLook} font-mono text-xs ${className}`} {...rest} />
}

/** The browser's own list: it works with every keyboard and on every phone. */
export function Choice({
  options,
  className = '',
  ...rest
}: ComponentProps<'select'> & { readonly options: readonly (readonly [value: string, text: string])[] }) {
  return (
    <select className={`${inputLook} ${className}`} {...rest}>
      {options.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  )
}

/** Use against a limit. */
export function Bar({ used, limit }: { readonly used: Figure; readonly limit: Figure | null }) {
  if (limit === null) return <span className="tabular-nums">{shortFigure(used)} · no limit</span>
  const part = Number(limit) === 0 ? 1 : Math.min(1, Number(used) / Number(limit))
  const tone = used >= limit ? 'fill-danger' : part >= 0.8 ? 'fill-warn' : 'fill-accent'
  return (
    <span className="flex items-center gap-2" title={`${figure(used)} of ${figure(limit)}`}>
      <span className="h-2 w-10 shrink-0 overflow-hidden rounded bg-raised sm:w-20" aria-hidden="true">
        <svg className="h-full w-full" preserveAspectRatio="none" viewBox="0 0 100 8" role="presentation">
          <rect className={tone} width={Math.max(part * 100, used > 0 ? 2 : 0)} height="8" />
        </svg>
      </span>
      <span className="whitespace-nowrap tabular-nums text-xs">
        {shortFigure(used)} / {shortFigure(limit)}
        {used > limit ? ' · over' : used === limit ? ' · used up' : ''}
      </span>
    </span>
  )
}

/** Nothing is there yet, and the first thing to do. */
export function Empty({
  title,
  children,
  action,
}: {
  readonly title: string
  readonly children?: ReactNode
  readonly action?: ReactNode
}) {
  return (
    <div className="rounded-lg border border-dashed border-line px-4 py-8 text-center">
      <p className="font-medium">{title}</p>
      {children && <p className="mx-auto mt-1 max-w-prose text-muted">{children}</p>}
      {action && <div className="mt-3 flex justify-center gap-2">{action}</div>}
    </div>
  )
}

const storeAway = 'A part of the service does not answer. It is tried again.'
const isStoreAway = (error: unknown): boolean => error instanceof Refused && error.status === 503

/** A failure in words. `retry`: it is of a query, which is repeated by itself while a store is away. */
export function Failure({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) {
  const message =
    retry && isStoreAway(error) ? storeAway : error instanceof Error ? error.message : String(error)
  return (
    <div
      role="alert"
      className="flex flex-wrap items-center gap-3 rounded-md bg-danger-soft px-3 py-2 text-danger"
    >
      <AlertTriangle size={16} aria-hidden="true" />
      <span className="min-w-0 flex-1 basis-48">{message}</span>
      {retry && (
        <Button look="danger" onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  )
}

interface Asked<T> {
  readonly data: T | undefined
  readonly error: unknown
  /** Number of failed attempts of the present request, and the error of the last one. */
  readonly failureCount: number
  readonly failureReason: unknown
  readonly refetch: () => unknown
}

/** The error that a query shows: its refusal, or the last error while it is retried; null: there is none to show. */
export const troubleOf = ({
  error,
  failureCount,
  failureReason,
}: Pick<Asked<unknown>, 'error' | 'failureCount' | 'failureReason'>): unknown =>
  error ?? (failureCount > 1 ? failureReason : null)

/** The outcome of a query: loading, its failure, or its data; data that are there stay while they are read again. */
export function Loaded<T>({
  of,
  children,
}: {
  readonly of: Asked<T>
  readonly children: (data: T) => ReactNode
}) {
  const trouble = troubleOf(of)
  const failure = trouble ? <Failure error={trouble} retry={() => of.refetch()} /> : null
  if (of.data !== undefined)
    return (
      <>
        {failure}
        {children(of.data)}
      </>
    )
  return failure ?? <Loading />
}

export const Loading = () => (
  <p className="py-4 text-muted" role="status">
    Loading
  </p>
)

export function Page({
  title,
  children,
  actions,
  above,
  below,
}: {
  readonly title: ReactNode
  readonly children: ReactNode
  readonly actions?: ReactNode
  readonly above?: ReactNode
  readonly below?: ReactNode
}) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    // Tabs and the history of the browser show this title.
    document.title = `${heading.current?.textContent?.trim()} · Tollgate`
  })
  return (
    <div className="mx-auto max-w-7xl p-4 sm:p-6">
      {above && <div className="mb-1 text-sm">{above}</div>}
      <div className="mb-4 flex flex-wrap items-start justify-between gap-3">
        <div className="min-w-0">
          <h1 ref={heading} className="text-xl font-semibold">
            {title}
          </h1>
          {below && <div className="mt-1 flex flex-wrap items-center gap-2 text-sm text-muted">{below}</div>}
        </div>
        {actions && <div className="flex flex-wrap gap-2">{actions}</div>}
      </div>
      {children}
    </div>
  )
}
