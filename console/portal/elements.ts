// Elements for a company's own page: its plan, its use against limits, its credits. Read-only, by a short-lived token that
// reads this company alone. The script is served at /portal.js; it needs no framework and no inline script or style.
//
//   <tollgate-portal url="https://tollgate.example" token="…">
//     <tollgate-plan></tollgate-plan> <tollgate-usage></tollgate-usage> <tollgate-credits></tollgate-credits>
//   </tollgate-portal>
import type { components } from '../../clients/typescript/src/api-types.js'
import { parseExact } from '../../clients/typescript/src/exact.js'

type Portal = components['schemas']['Portal']
type Figure = number | bigint

const defaultRefreshSeconds = 60

/** Asks GET /portal, now and again, and gives the answer to the elements inside. Empty: it shows all three. */
export class TollgatePortal extends HTMLElement {
  static readonly observedAttributes = ['url', 'token', 'refresh']
  /** Gives another token when the present one is over: the page's server makes it. */
  renew: (() => Promise<string>) | null = null
  private timer: ReturnType<typeof setTimeout> | undefined
  private queued = false

  connectedCallback(): void {
    if (this.childElementCount === 0)
      for (const name of parts) this.append(document.createElement(`tollgate-${name}`))
    this.ask()
  }

  disconnectedCallback(): void {
    clearTimeout(this.timer)
  }

  attributeChangedCallback(): void {
    if (this.isConnected) this.ask()
  }

  /** Several attributes that are set together make one request. */
  private ask(): void {
    if (this.queued) return
    this.queued = true
    queueMicrotask(() => {
      this.queued = false
      void this.read()
    })
  }

  private async read(mayRenew = true): Promise<void> {
    clearTimeout(this.timer)
    if (!this.isConnected) return
    const response = await fetch(
      new URL('portal', `${(this.getAttribute('url') ?? '').replace(/\/+$/, '')}/`),
      {
        headers: { 'X-Service-Api-Key': this.getAttribute('token') ?? '' },
        credentials: 'omit',
      },
    ).catch(() => null)
    if (response?.status === 401 && mayRenew && this.renew !== null) {
      const token = await this.renew().catch(() => null)
      if (token !== null) {
        // the attribute's change asks again, unless the value is the same
        if (token === this.getAttribute('token')) return this.read(false)
        this.setAttribute('token', token)
        return
      }
    }
    if (response?.ok) this.show((parseExact(await response.text()) as { data: Portal }).data)
    else this.show(null)
    const seconds = Number(this.getAttribute('refresh') ?? defaultRefreshSeconds)
    if (seconds > 0) this.timer = setTimeout(() => void this.read(), seconds * 1_000)
  }

  private show(portal: Portal | null): void {
    for (const part of this.querySelectorAll<PortalPart>(parts.map(name => `tollgate-${name}`).join()))
      part.show?.(portal)
    this.dispatchEvent(new CustomEvent('tollgate-read', { detail: portal }))
  }
}

const style = `
:host { display: block; margin-bottom: 1.5em; font: inherit; color: inherit }
h2 { font-size: 1.1em; margin: 0 0 .5em }
p { margin: .25em 0 }
ul { list-style: none; margin: 0; padding: 0 }
li { display: grid; grid-template-columns: 1fr auto; gap: .25em 1em; padding: .5em 0; border-bottom: 1px solid #8886 }
li:last-child { border-bottom: 0 }
progress { grid-column: 1 / -1; width: 100%; height: .5em; accent-color: var(--tollgate-accent, #1b5cb5) }
.figure { font-variant-numeric: tabular-nums; text-align: right }
.note { grid-column: 1 / -1; font-size: .875em }
`

/** Base of the parts: a shadow root with the style, and a title. */
abstract class PortalPart extends HTMLElement {
  private readonly root = this.attachShadow({ mode: 'open' })
  protected abstract readonly heading: string

  connectedCallback(): void {
    if (this.root.childElementCount > 0) return
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(style)
    this.root.adoptedStyleSheets = [sheet]
    this.put([made('p', { textContent: 'Loading' })])
    this.setAttribute('aria-busy', 'true')
  }

  /** null: it is not known now. */
  show(portal: Portal | null): void {
    this.removeAttribute('aria-busy')
    this.put(
      portal === null
        ? [made('p', { textContent: 'This cannot be shown now. It is tried again.' })]
        : this.content(portal),
    )
  }

  protected abstract content(portal: Portal): readonly Node[]

  private put(content: readonly Node[]): void {
    this.root.replaceChildren(
      made('h2', { textContent: this.getAttribute('heading') ?? this.heading }),
      ...content,
    )
  }
}

class PortalPlan extends PortalPart {
  protected readonly heading = 'Plan'

  protected content({ plan, add_ons }: Portal): readonly Node[] {
    if (plan === null) return [made('p', { textContent: 'No plan' })]
    const lines = [plan.name, plan.description ?? '', ...add_ons.map(({ name }) => `with ${name}`)]
    return lines.filter(line => line !== '').map(textContent => made('p', { textContent }))
  }
}

class PortalUsage extends PortalPart {
  protected readonly heading = 'Usage'

  protected content({ features }: Portal): readonly Node[] {
    if (features.length === 0) return [made('p', { textContent: 'Nothing is included' })]
    return [made('ul', {}, features.map(lineOf))]
  }
}

function lineOf(feature: Portal['features'][number]): Node {
  const { name, usage, limit, allowed, resets_at: resets } = feature
  const line = made('li', {}, [made('span', { textContent: name })])
  const words =
    usage === null
      ? allowed
        ? 'included'
        : 'not now'
      : limit === null
        ? `${figure(usage)} used`
        : `${figure(usage)} of ${figure(limit)}`
  line.append(made('span', { className: 'figure', textContent: words }))
  if (usage !== null && limit !== null) {
    const bar = made('progress', { max: Math.max(Number(limit), 1), value: Number(usage) })
    bar.setAttribute('aria-label', `${name}: ${words}`)
    line.append(bar)
  }
  const notes = [
    ...(usage !== null && limit !== null && !allowed ? ['used up'] : []),
    ...(resets === null ? [] : [`starts again on ${day(resets)}`]),
  ]
  if (notes.length > 0) line.append(made('span', { className: 'note', textContent: notes.join(', ') }))
  return line
}

class PortalCredits extends PortalPart {
  protected readonly heading = 'Credits'

  protected content({ credits }: Portal): readonly Node[] {
    if (credits.length === 0) return [made('p', { textContent: 'No credits' })]
    const lines = credits.map(({ name, remaining, total }) =>
      made('li', {}, [
        made('span', { textContent: name }),
        made('span', { className: 'figure', textContent: `${figure(remaining)} of ${figure(total)} left` }),
      ]),
    )
    return [made('ul', {}, lines)]
  }
}

/** An element with these properties and children: texts only, never HTML. */
function made<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]>,
  children: readonly Node[] = [],
): HTMLElementTagNameMap[Name] {
  const element = Object.assign(document.createElement(name), properties)
  element.append(...children)
  return element
}

const locale = (): string => document.documentElement.lang || 'en'
const figure = (value: Figure): string => new Intl.NumberFormat(locale()).format(value)
const day = (time: string): string =>
  new Intl.DateTimeFormat(locale(), { day: 'numeric', month: 'short' }).format(new Date(time))

const parts = ['plan', 'usage', 'credits'] as const

// the parts first: the portal finds them as what they are
for (const [name, element] of [
  ['plan', PortalPlan],
  ['usage', PortalUsage],
  ['credits', PortalCredits],
  ['portal', TollgatePortal],
] as const)
  if (!customElements.get(`tollgate-${name}`)) customElements.define(`tollgate-${name}`, element)
