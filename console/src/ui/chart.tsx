// Lines over days: uPlot, with the same figures as a table for those who do not see it.
import { useEffect, useMemo, useRef, useState } from 'react'
import uPlot from 'uplot'
import { figure, shortFigure, utcDayOf } from '../app/format.js'
import { useShownTheme } from '../app/theme.js'
import { Button } from './basics.js'
import { Cell, Row, Table } from './table.js'

export interface Series {
  readonly name: string
  /** One for each day; null: there is none. */
  readonly values: readonly (number | null)[]
  /** It is drawn as a limit, dashed. */
  readonly isLimit?: boolean
}

/** An instant that is marked by a line across. The page says in words what it was. */
interface Mark {
  readonly at: string
}

const light = ['#1b5cb5', '#c2410c', '#0f766e', '#8a5300', '#7c3aed', '#be185d']
const dark = ['#8ab6f5', '#fdba74', '#5eead4', '#e5e56a', '#c4b5fd', '#f9a8d4']

interface Charted {
  /** The start of each day, RFC 3339. */
  readonly days: readonly string[]
  readonly series: readonly Series[]
  readonly label: string
}

export function Chart({
  days,
  series,
  label,
  marks = none,
}: Charted & {
  readonly marks?: readonly Mark[]
}) {
  const [asTable, setAsTable] = useState(false)
  return (
    <div>
      {asTable ? (
        <FigureTable days={days} series={series} label={label} />
      ) : (
        <Plot days={days} series={series} label={label} marks={marks} />
      )}
      <Button look="quiet" className="mt-1 text-xs" onClick={() => setAsTable(was => !was)}>
        {asTable ? 'Show as chart' : 'Show as table'}
      </Button>
    </div>
  )
}

const none: readonly Mark[] = []

/** The day of a time in seconds. */
const dayAt = (seconds: number): string => utcDayOf(seconds * 1_000)

/** Lines across the plot at marked instants. */
function drawMarks(plot: uPlot, marks: readonly Mark[], stroke: string): void {
  const { ctx, bbox } = plot
  ctx.save()
  ctx.strokeStyle = stroke
  ctx.setLineDash([2, 4])
  for (const { at } of marks) {
    const x = plot.valToPos(Date.parse(at) / 1_000, 'x', true)
    if (x < bbox.left || x > bbox.left + bbox.width) continue
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
  }
  ctx.restore()
}

function Plot({
  days,
  series,
  label,
  marks,
}: Charted & {
  readonly marks: readonly Mark[]
}) {
  const place = useRef<HTMLDivElement>(null)
  const theme = useShownTheme()
  const data = useMemo(
    () =>
      [days.map(day => Date.parse(day) / 1_000), ...series.map(one => [...one.values])] as uPlot.AlignedData,
    [days, series],
  )
  useEffect(() => {
    const node = place.current
    if (node === null) return
    const style = getComputedStyle(document.documentElement)
    const muted = style.getPropertyValue('--muted')
    const line = style.getPropertyValue('--line')
    const colours = theme === 'dark' ? dark : light
    const axis = { stroke: muted, grid: { stroke: line, width: 1 }, ticks: { show: false } }
    const plot = new uPlot(
      {
        width: node.clientWidth,
        height: 220,
        // The axis shows days of UTC.
        tzDate: at => uPlot.tzDate(new Date(at * 1_000), 'Etc/UTC'),
        series: [
          { value: (_, at) => (at == null ? '–' : dayAt(at)), label: 'Day' },
          ...series.map((one, i) => ({
            label: one.name,
            stroke: one.isLimit ? muted : colours[i % colours.length]!,
            width: 2,
            ...(one.isLimit && { dash: [6, 4], points: { show: false } }),
            value: (_: uPlot, value: number | null) => figure(value),
          })),
        ],
        hooks: { draw: [plot => drawMarks(plot, marks, muted)] },
        axes: [
          { ...axis, values: (_, ticks) => ticks.map(dayAt) },
          { ...axis, size: 56, values: (_, ticks) => ticks.map(tick => shortFigure(tick)) },
        ],
        scales: { y: { range: (_, __, max) => [0, max > 0 ? max * 1.05 : 1] } },
      },
      data,
      node,
    )
    const resized = new ResizeObserver(() => plot.setSize({ width: node.clientWidth, height: 220 }))
    resized.observe(node)
    return () => {
      resized.disconnect()
      plot.destroy()
    }
  }, [data, series, marks, theme])
  return <div ref={place} role="img" aria-label={label} className="w-full overflow-hidden" />
}

function FigureTable({ days, series, label }: Charted) {
  return (
    <div className="max-h-64 overflow-y-auto">
      <Table label={label} head={['Day', ...series.map(one => one.name)]}>
        {days.map((day, i) => (
          <Row key={day}>
            <Cell>{utcDayOf(day)}</Cell>
            {series.map(one => (
              <Cell key={one.name} className="tabular-nums">
                {figure(one.values[i])}
              </Cell>
            ))}
          </Row>
        ))}
      </Table>
    </div>
  )
}
