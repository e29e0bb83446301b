// The page: it holds a publishable key; its server says who is signed in. It begins with what the server rendered, and hears
// of changes over a WebSocket.
import { hydrateRoot } from 'react-dom/client'
import { TollgateProvider } from '../../clients/react/src/index.js'
import { type Standing, Tollgate } from '../../clients/typescript/src/index.js'
import { App } from './app.js'

interface Session {
  readonly url: string
  readonly publishableKey: string
  /** As the server rendered it. */
  readonly standing: Standing
}

const session = JSON.parse(document.getElementById('session')!.textContent!) as Session

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

hydrateRoot(
  document.getElementById('page')!,
  <TollgateProvider client={tollgate} initial={session.standing}>
    <App />
  </TollgateProvider>,
)
