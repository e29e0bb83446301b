// Lines of charges: what is owed, for how much, at which price, and the events behind it.
import { useQuery } from '@tanstack/react-query'
import { Fragment, type ReactNode, useState } from 'react'
import { api, type Schemas } from '../app/api.js'
import { count, decimal, figure, money, spanOf, timeOf, words } from '../app/format.js'
import { useHere } from '../app/place.js'
import { Badge, Button, Code } from '../ui/basics.js'
import { Cell, Row, Table } from '../ui/table.js'
import { useFeatures } from './company.js'

export type Line = Schemas['ChargeLineView']

/** Names of features, plans and credits by their ids. */
function useNames(): ReadonlyMap<string, string> {
  const { environment } = useHere()
  const features = useFeatures()
  const plans = useQuery({
    queryKey: [environment.id, 'plans', 'summary'],
    queryFn: () => api.all('/plans', { query: { view: 'summary' } }) as Promise<Schemas['PlanSummary'][]>,
  })
  const credits = useQuery({
    queryKey: [environment.id, 'credits'],
    queryFn: () => api.all('/billing/credits'),
  })
  const all = [...(features.data ?? []), ...(plans.data ?? []), ...(credits.data ?? [])]
  return new Map(all.map(one => [one.id, one.name]))
}

/** Words for each kind of line, in the order in which they are offered. */
export const kinds: Readonly<Record<Line['kind'], string>> = {
  recurring: 'Fee',
  usage: 'Use',
  overage: 'Overage',
  seat: 'Seats',
  bundle: 'Bundle of credits',
  credit_overdraft: 'Credits owed',
  discount: 'Discount',
  trial: 'Trial',
  correction: 'Correction',
}

/** "Correction of use", "Use". */
const kindWords = ({ kind, charge_kind: about }: Pick<Line, 'kind' | 'charge_kind'>): string =>
  kind === about ? kinds[kind] : `${kinds[kind]} of ${kinds[about].toLowerCase()}`

const adjusting: readonly Line['kind'][] = ['correction', 'discount', 'trial']

export function ChargeLines<T extends Line>({
  lines,
  label,
  first,
}: {
  readonly lines: readonly T[]
  readonly label: string
  /** A column before the others. */
  readonly first?: { readonly head: string; readonly cell: (line: T) => ReactNode }
}) {
  const names = useNames()
  const [open, setOpen] = useState<number | null>(null)
  const head = [...(first ? [first.head] : []), 'For', 'Time', 'Quantity', 'Price', 'Amount', '']
  return (
    <Table label={label} head={head} atEnd="Amount">
      {lines.map((line, i) => {
        const subject = names.get(line.feature_id ?? line.credit_id ?? '') ?? null
        const plan = names.get(line.plan_id ?? '') ?? null
        const name = subject ?? plan ?? kinds[line.kind]
        return (
          <Fragment key={i}>
            <Row>
              {first && <Cell>{first.cell(line)}</Cell>}
              <Cell className="min-w-36">
                {name}
                <div className="text-xs text-muted">
                  {adjusting.includes(line.kind) ? (
                    <Badge tone="warn">{kindWords(line)}</Badge>
                  ) : (
                    kindWords(line)
                  )}
                  {subject !== null && plan !== null && ` · ${plan}`}
                  {line.plan_version !== null &&
                    `${subject === null || plan === null ? ' ·' : ''} v${line.plan_version}`}
                </div>
              </Cell>
              <Cell className="whitespace-nowrap text-muted">{spanOf(line.start_time, line.end_time)}</Cell>
              <Cell className="whitespace-nowrap tabular-nums">
                {decimal(line.quantity_decimal)} <span className="text-muted">{unitWords(line)}</span>
              </Cell>
              <Cell className="whitespace-nowrap tabular-nums text-muted">{priceWords(line)}</Cell>
              <Cell className="whitespace-nowrap text-right font-medium tabular-nums">
                {money(line.amount, line.currency)}
              </Cell>
              <Cell className="text-right">
                <Button
                  look="quiet"
                  aria-expanded={open === i}
                  aria-label={`${open === i ? 'Less' : 'More'} of line ${line.line}, ${name}`}
                  onClick={() => setOpen(was => (was === i ? null : i))}
                >
                  {open === i ? 'Less' : 'More'}
                </Button>
              </Cell>
            </Row>
            {open === i && (
              <tr>
                <td colSpan={head.length} className="p-2">
                  <Details line={line} />
                </td>
              </tr>
            )}
          </Fragment>
        )
      })}
    </Table>
  )
}

const unitWords = ({ unit, quantity_decimal: quantity }: Line): string => {
  if (unit === 'item') return ''
  return quantity === '1' ? unit : `${unit}s`
}

function priceWords(line: Line): string {
  if (line.tiers_mode !== null) return `by ${words(line.tiers_mode)} tiers`
  if (line.unit_price === null) return '–'
  const price = money(line.unit_price, line.currency)
  return line.package_size !== null && line.package_size > 1
    ? `${price} per ${figure(line.package_size)}`
    : price
}

function Details({ line }: { readonly line: Line }) {
  const { events, proration, window } = line
  const rows: (readonly [what: string, value: ReactNode])[] = [
    ['Exact amount', money(line.amount_decimal, line.currency)],
    ['Due', timeOf(line.due_at)],
  ]
  if (proration !== null)
    rows.push([
      'Part of a period',
      `${decimal(((100 * Number(proration.remaining_ms)) / Number(proration.period_ms)).toFixed(2))} %`,
    ])
  if (window !== null) rows.push(['Window', spanOf(window.start_time, window.end_time)])
  if (events !== null) {
    rows.push(['Events', `${count(Number(events.count), 'event')} with ${figure(events.quantity)} in all`])
    rows.push(['Counter', `${figure(events.counter_before)} before, ${figure(events.counter_after)} after`])
    for (const [what, id] of [
      ['First event', events.first_event_id],
      ['Last event', events.last_event_id],
    ] as const)
      if (id !== null) rows.push([what, <Code key={id}>{id}</Code>])
  }
  return (
    <div className="grid gap-4 rounded bg-raised p-3 lg:grid-cols-2">
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
        {rows.map(([what, value]) => (
          <Fragment key={what}>
            <dt className="text-muted">{what}</dt>
            <dd className="min-w-0 break-words">{value}</dd>
          </Fragment>
        ))}
      </dl>
      {line.tiers.length > 0 && (
        <Table label="Tiers" head={['Up to', 'Units', 'Each', 'Flat', 'Amount']}>
          {line.tiers.map((tier, i) => (
            <Row key={i}>
              <Cell>{tier.up_to === null ? 'no end' : figure(tier.up_to)}</Cell>
              <Cell className="tabular-nums">{figure(tier.units)}</Cell>
              <Cell className="tabular-nums">{money(tier.unit_price, line.currency)}</Cell>
              <Cell className="tabular-nums">{money(tier.flat_amount, line.currency)}</Cell>
              <Cell className="tabular-nums">{money(tier.amount, line.currency)}</Cell>
            </Row>
          ))}
        </Table>
      )}
    </div>
  )
}
