// The chart, apart from the screens that show one: its file comes beside their calls, and they are there before it.
import { lazy } from 'react'

const load = () => import('./chart.js').then(({ Chart: component }) => ({ default: component }))

void load().catch(() => {})

export const Chart = lazy(load)
