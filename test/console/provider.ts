// A provider of OpenID Connect on loopback, and a browser's way through a sign-on: redirects, cookies and the provider's forms.
import { createServer } from 'node:http'
import { type AddressInfo, createServer as listen } from 'node:net'
import type { Test } from 'tap'

/** Claims about a person. Changed in place between sign-ons. */
export interface Person {
  name?: string
  email?: string
  email_verified?: boolean
  groups?: readonly string[]
}

interface ProviderModule {
  readonly default: new (
    issuer: string,
    configuration: object,
  ) => { callback(): Parameters<typeof createServer>[1] }
}

export interface IdentityProvider {
  readonly issuer: string
  readonly clientId: string
  stop(): Promise<void>
}

export async function freePort(): Promise<number> {
  const server = listen()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}

/** Start a provider that knows `people` by login, demands PKCE and gives name, address and groups at its UserInfo address. */
export async function startProvider(
  t: Test,
  people: ReadonlyMap<string, Person>,
  redirectUri: string,
): Promise<IdentityProvider> {
  // it has no types of its own
  const name: string = 'oidc-provider'
  const { default: Provider } = (await import(name)) as ProviderModule
  const issuer = `http://127.0.0.1:${await freePort()}`
  const clientId = 'console'
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    pkce: { required: () => true },
    cookies: { keys: ['of a test'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, ...people.get(id) }),
    }),
  })
  const server = createServer(provider.callback()!)
  await new Promise<void>(resolve => server.listen(Number(new URL(issuer).port), '127.0.0.1', resolve))
  const stop = () =>
    new Promise<void>(resolve => {
      server.closeAllConnections()
      server.close(() => resolve())
    })
  t.teardown(stop)
  return { issuer, clientId, stop }
}

/** A person's browser: it keeps cookies by host and port, follows redirects, and fills in the provider's forms. */
export class Visitor {
  readonly cookies = new Map<string, Map<string, string>>()
  /** Every address that was asked for, in order. */
  readonly visited: URL[] = []

  constructor(readonly login: string) {}

  async get(url: URL, init: RequestInit = {}): Promise<Response> {
    const jar = this.jar(url)
    this.visited.push(url)
    const response = await fetch(url, {
      redirect: 'manual',
      ...init,
      headers: { ...init.headers, Cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
    })
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';')
      const at = pair.indexOf('=')
      if (/max-age=0|expires=thu, 01 jan 1970/i.test(line)) jar.delete(pair.slice(0, at))
      else jar.set(pair.slice(0, at), pair.slice(at + 1))
    }
    return response
  }

  jar({ host }: URL): Map<string, string> {
    const found = this.cookies.get(host) ?? new Map<string, string>()
    this.cookies.set(host, found)
    return found
  }

  /** Go on until a page has no redirect and no form. `until`: stop before this address is asked for. */
  async walk(
    from: URL,
    until?: (url: URL) => boolean,
  ): Promise<{ readonly url: URL; readonly text: string }> {
    let url = from
    let init: RequestInit = {}
    for (let step = 0; step < 20; step++) {
      if (until?.(url)) return { url, text: '' }
      const response = await this.get(url, init)
      const text = await response.text()
      init = {}
      const to = response.headers.get('location')
      if (to !== null) {
        url = new URL(to, url)
        continue
      }
      const action = /<form[^>]* action="([^"]+)"/.exec(text)?.[1]
      if (action === undefined || response.status >= 400) return { url, text }
      url = new URL(action, url)
      const prompt = /name="prompt" value="(\w+)"/.exec(text)![1]!
      init = { method: 'POST', body: new URLSearchParams({ prompt, login: this.login, password: 'any' }) }
    }
    throw new Error(`no end of redirects at ${url.href}`)
  }
}
