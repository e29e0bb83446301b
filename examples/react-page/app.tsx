// The components: what the signed-in company may do, and how much of it is left.
import { useCredits, useEntitlement, useStanding, useTollgate } from '../../clients/react/src/index.js'

function Exports() {
  const { isAllowed, usage, allocation } = useEntitlement('exports')
  const tollgate = useTollgate()
  return (
    <button type="button" id="export" disabled={!isAllowed} onClick={() => tollgate.track('export')}>
      {`Export (${usage ?? 0} of ${allocation ?? 'any number'})`}
    </button>
  )
}

function Credits() {
  const credits = useCredits()
  return <p id="credits">{credits.map(one => `${one.remaining} credits`).join(', ')}</p>
}

export function App() {
  const { standing, flags, error } = useStanding()
  if (standing === null) return <p id="state">{error ?? 'asking'}</p>
  return (
    <main>
      <p id="state">ready</p>
      <ul>
        {[...flags.values()].map(({ flag, value }) => (
          <li key={flag} id={`flag-${flag}`}>
            {`${flag}: ${value ? 'on' : 'off'}`}
          </li>
        ))}
      </ul>
      <Exports />
      <Credits />
    </main>
  )
}
