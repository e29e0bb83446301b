// Lines over days: uPlot, with the same figures as a table for those who do not see it.
import { useEffect, useMemo, useRef, useState } from 'react'
import uPlot from 'uplot'
import { figure, shortFigure, utcDayOf } from '../app/format.js'
import { useShownTheme } from '../app/theme.js'
import { Button, Cell, Row, Table } from './basics.js'

export interface Series {
  readonly name: string
  readonly values: readonly number[]
}

const light = ['#1b5cb5', '#c2410c', '#0f766e', '#8a5300', '#7c3aed', '#be185d']
const dark = ['#8ab6f5', '#fdba74', '#5eead4', '#e5e56a', '#c4b5fd', '#f9a8d4']

/** `days`: the start of each day, RFC 3339. */
export function Chart({
  days,
  series,
  label,
}: {
  readonly days: readonly string[]
  readonly series: readonly Series[]
  readonly label: string
}) {
  const [asTable, setAsTable] = useState(false)
  return (
    <div>
      {asTable ? (
        <FigureTable days={days} series={series} label={label} />
      ) : (
        <Plot days={days} series={series} label={label} />
      )}
      <Button look="quiet" className="mt-1 text-xs" onClick={() => setAsTable(was => !was)}>
        {asTable ? 'Show as chart' : 'Show as table'}
      </Button>
    </div>
  )
}

/** The day of a time in seconds. */
const dayAt = (seconds: number): string => utcDayOf(seconds * 1_000)

function Plot({
  days,
  series,
  label,
}: {
  readonly days: readonly string[]
  readonly series: readonly Series[]
  readonly label: string
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
            stroke: colours[i % colours.length]!,
            width: 2,
            value: (_: uPlot, value: number | null) => figure(value),
          })),
        ],
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
  }, [data, series, theme])
  return <div ref={place} role="img" aria-label={label} className="w-full overflow-hidden" />
}

function FigureTable({
  days,
  series,
  label,
}: {
  readonly days: readonly string[]
  readonly series: readonly Series[]
  readonly label: string
}) {
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
