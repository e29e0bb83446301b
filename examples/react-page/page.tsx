// A page that shows what the signed-in company may do. It holds a publishable key; its server says who is signed in.
import { useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { type Checked, Tollgate } from '../../clients/typescript/src/index.js'

interface Session {
  readonly url: string
  readonly publishableKey: string
}

const session = (await (await fetch('/session')).json()) as Session

const tollgate = new Tollgate({
  url: session.url,
  key: session.publishableKey,
  // signed by the page's server for whoever is signed in: the page cannot name another company
  signedContext: async () => {
    const signed = await fetch('/signed-context')
    if (!signed.ok) throw new Error('Nobody is signed in')
    return signed.text()
  },
})

function useFlags(): readonly Checked[] | null {
  const [flags, setFlags] = useState<readonly Checked[] | null>(null)
  useEffect(() => {
    let shown = true
    const look = async () => {
      const checked = await tollgate.checkAll()
      if (shown) setFlags(checked)
    }
    void look()
    const timer = setInterval(look, 1_000)
    return () => {
      shown = false
      clearInterval(timer)
    }
  }, [])
  return flags
}

function Page() {
  const flags = useFlags()
  if (flags === null) return <p id="state">asking</p>
  return (
    <main>
      <p id="state">ready</p>
      <ul>
        {flags.map(({ flag, value }) => (
          <li key={flag} id={`flag-${flag}`}>
            {flag}: {value ? 'on' : 'off'}
          </li>
        ))}
      </ul>
      <button type="button" id="export" onClick={() => tollgate.track('export')}>
        Export
      </button>
    </main>
  )
}

createRoot(document.getElementById('page')!).render(<Page />)
