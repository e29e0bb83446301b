// The page as text, for its first answer.
import { renderToString } from 'react-dom/server'
import { TollgateProvider } from '../../clients/react/src/index.js'
import type { Standing, Tollgate } from '../../clients/typescript/src/index.js'
import { App } from './app.js'

export const render = (client: Tollgate, standing: Standing): string =>
  renderToString(
    <TollgateProvider client={client} initial={standing}>
      <App />
    </TollgateProvider>,
  )
