// Tables. A table that is wider than its place is shown as a list of rows, with the name of its column beside each value, so
// that nobody scrolls in two directions (WCAG 1.4.10).
import { Children, createContext, type ReactNode, useContext, useLayoutEffect, useRef, useState } from 'react'

/** Names of the columns of the table around, and of the column of the cell. */
const Heads = createContext<readonly string[]>([])
const Head = createContext('')

/** `atEnd`: the column whose name stands at the right, as its figures do. */
export function Table({
  head,
  children,
  label,
  atEnd,
}: {
  readonly head: readonly string[]
  readonly children: ReactNode
  readonly label: string
  readonly atEnd?: string
}) {
  const place = useRef<HTMLElement>(null)
  const isStacked = useStacked(place)
  return (
    // it scrolls where even a list of rows is too wide: a region that scrolls must be reachable by keyboard
    <section
      ref={place}
      className="overflow-x-auto"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
      tabIndex={0}
      aria-label={label}
      data-stacked={isStacked || undefined}
    >
      <table className="w-full border-collapse text-left">
        <thead>
          <tr className="border-b border-line text-xs text-muted">
            {head.map((name, i) => (
              <th
                key={i}
                scope="col"
                className={`px-2 py-1.5 font-medium whitespace-nowrap ${name === atEnd ? 'text-right' : ''}`}
              >
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Heads.Provider value={head}>{children}</Heads.Provider>
        </tbody>
      </table>
    </section>
  )
}

/** Whether the table in this place does not fit as a table. */
function useStacked(place: { readonly current: HTMLElement | null }): boolean {
  const [isStacked, setIsStacked] = useState(false)
  /** The width that the table needed when it did not fit. */
  const needed = useRef(0)
  useLayoutEffect(() => {
    const node = place.current
    if (node === null) return
    const look = () => {
      if (isStacked) {
        if (node.clientWidth >= needed.current) setIsStacked(false)
      } else if (node.scrollWidth > node.clientWidth) {
        needed.current = node.scrollWidth
        setIsStacked(true)
      }
    }
    look()
    let frame = 0
    // in the next frame: a change of size while sizes are told is an error to the browser
    const resized = new ResizeObserver(() => {
      cancelAnimationFrame(frame)
      frame = requestAnimationFrame(look)
    })
    resized.observe(node)
    if (node.firstElementChild) resized.observe(node.firstElementChild)
    return () => {
      cancelAnimationFrame(frame)
      resized.disconnect()
    }
  }, [place, isStacked])
  return isStacked
}

/** Its children are cells, in the order of the columns. */
export function Row({ children }: { readonly children: ReactNode }) {
  const heads = useContext(Heads)
  return (
    <tr className="border-b border-line last:border-0 hover:bg-raised/60">
      {Children.toArray(children).map((cell, i) => (
        <Head.Provider key={i} value={heads[i] ?? ''}>
          {cell}
        </Head.Provider>
      ))}
    </tr>
  )
}

export function Cell({
  children,
  className = '',
}: {
  readonly children?: ReactNode
  readonly className?: string
}) {
  const head = useContext(Head)
  return (
    <td className={`px-2 py-2 align-top ${className}`} data-head={head || undefined}>
      {children}
    </td>
  )
}
