// Tabs of a page; the chosen one is in the address.
import { Tabs as Base } from '@base-ui/react/tabs'
import type { ReactNode } from 'react'

export interface Tab {
  readonly id: string
  readonly name: string
  readonly content: () => ReactNode
}

export function Tabs({
  tabs,
  value,
  onChange,
}: {
  readonly tabs: readonly Tab[]
  readonly value: string
  readonly onChange: (id: string) => void
}) {
  return (
    <Base.Root value={value} onValueChange={id => onChange(id as string)}>
      <Base.List className="mb-4 flex flex-wrap gap-x-1 border-b border-line">
        {tabs.map(({ id, name }) => (
          <Base.Tab
            key={id}
            value={id}
            className="border-b-2 border-transparent px-3 py-2 whitespace-nowrap text-muted aria-selected:border-accent aria-selected:font-semibold aria-selected:text-text"
          >
            {name}
          </Base.Tab>
        ))}
      </Base.List>
      {tabs.map(({ id, content }) => (
        <Base.Panel key={id} value={id}>
          {id === value && content()}
        </Base.Panel>
      ))}
    </Base.Root>
  )
}
