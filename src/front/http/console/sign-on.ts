// Sign-on with OpenID Connect: authorization code with PKCE, by openid-client. The provider's groups give the roles.
import { randomBytes } from 'node:crypto'
import * as oidc from 'openid-client'
import { memberOfSignOn } from '../../../account/member-records.js'
import type { Config } from '../../../config.js'
import { type ConsoleRole, higher, type RoleMap } from '../../../core/console-role.js'
import { ServiceError } from '../../../errors.js'
import type { Services } from '../../../kit/services.js'

/** Settings of sign-on, as src/config.ts reads them. */
type SignOnSettings = NonNullable<Config['oidc']>

const cookieSeconds = 600
/** How long a page may take to show why a sign-on was refused. */
const refusalSeconds = 60

type Claims = { readonly sub: string } & Readonly<Record<string, unknown>>

/** Sign-on with one provider. The state of a sign-on lies in a cookie of its browser, so any node can end it. */
export class SignOn {
  readonly cookieName = 'tollgate_sign_on'
  readonly isSecure: boolean
  private found: Promise<oidc.Configuration> | null = null
  private readonly redirectUri: string

  constructor(
    private readonly settings: SignOnSettings,
    publicUrl: string,
    private readonly accountId: () => string,
  ) {
    this.isSecure = publicUrl.startsWith('https:')
    this.redirectUri = `${publicUrl.replace(/\/+$/, '')}/console/sign-on-done`
  }

  /** The Set-Cookie that removes the state. */
  get forget(): string {
    return `${this.cookieName}=; Max-Age=0; HttpOnly; SameSite=Lax`
  }

  /**
   * The Set-Cookie that brings a refusal to the console's page, which shows it and removes it. It is not in the address:
   * a link that somebody else made would show its own words there.
   */
  refusal(message: string): string {
    const secure = this.isSecure ? '; Secure' : ''
    return `tollgate_sign_on_refusal=${encodeURIComponent(message)}; Max-Age=${refusalSeconds}; SameSite=Lax${secure}`
  }

  /** Where to send the browser, and the cookie that it must bring back. errors: store_away (503), no provider. */
  async begin(): Promise<{ readonly url: string; readonly cookie: string }> {
    const config = await this.provider()
    const verifier = oidc.randomPKCECodeVerifier()
    const state = randomBytes(24).toString('base64url')
    const nonce = randomBytes(24).toString('base64url')
    const url = oidc.buildAuthorizationUrl(config, {
      redirect_uri: this.redirectUri,
      scope: this.settings.scopes,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    })
    const secure = this.isSecure ? '; Secure' : ''
    // Lax: the provider sends the browser back from its own site
    const cookie = `${this.cookieName}=${state}.${nonce}.${verifier}; Max-Age=${cookieSeconds}; HttpOnly; SameSite=Lax${secure}`
    return { url: url.href, cookie }
  }

  /**
   * Check what the provider sent, and find or make the member.
   *
   * query   of the redirect; kept: the cookie's value.
   * errors  forbidden (403): another browser began it, the address is not verified or of no allowed domain, no group
   *         has a role, or an admin has disabled the member; key_unknown (401): the provider's answer does not hold.
   */
  async end(
    query: string,
    kept: string,
    { sql, keys, clock }: Pick<Services, 'sql' | 'keys' | 'clock'>,
  ): Promise<{ readonly accountId: string; readonly memberId: string }> {
    const [state, nonce, verifier] = kept.split('.')
    if (!state || !nonce || !verifier)
      throw new ServiceError(
        'forbidden',
        'This sign-on was not begun in this browser, or took too long: try again',
      )
    const config = await this.provider()
    let claims: Claims | undefined
    try {
      const tokens = await oidc.authorizationCodeGrant(config, new URL(`${this.redirectUri}?${query}`), {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      })
      const told = tokens.claims()
      claims = told && (await this.whole(config, tokens.access_token, told))
    } catch (error) {
      throw new ServiceError('key_unknown', 'The provider did not confirm this sign-on: try again', {
        cause: error,
      })
    }
    if (claims === undefined) throw new ServiceError('key_unknown', 'The provider sent no ID token')
    const accountId = this.accountId()
    const names = new Map(keys.environments(accountId).map(({ id, name }) => [name, id]))
    const email = typeof claims.email === 'string' ? claims.email : null
    mustBeAllowed(email, claims.email_verified === true, this.settings.domains)
    const roles = rolesOf(groupsOf(claims[this.settings.groupsClaim]), this.settings.roles, names)
    if (Object.keys(roles).length === 0)
      throw new ServiceError('forbidden', 'None of your groups has a role in this console: ask an admin')
    const name = typeof claims.name === 'string' ? claims.name : null
    const claimed = { subject: claims.sub, email, name, roles }
    const memberId = await memberOfSignOn(sql, accountId, claimed, clock.wall())
    if (memberId === null) throw new ServiceError('forbidden', 'An admin has disabled this member')
    return { accountId, memberId }
  }

  /**
   * The claims of an ID token with those that the provider tells at its UserInfo address alone: where a token for it is
   * issued, name, address and groups may be there and nowhere else (OpenID Connect Core 5.4).
   */
  private async whole(config: oidc.Configuration, accessToken: string, told: oidc.IDToken): Promise<Claims> {
    const wanted = ['email', 'name', this.settings.groupsClaim]
    if (wanted.every(name => told[name] !== undefined)) return told
    if (config.serverMetadata().userinfo_endpoint === undefined) return told
    return { ...(await oidc.fetchUserInfo(config, accessToken, told.sub)), ...told }
  }

  /** The provider's description, read once; a failure is not kept. */
  private provider(): Promise<oidc.Configuration> {
    const { issuer, clientId, clientSecret } = this.settings
    const isPlain = issuer.protocol === 'http:'
    this.found ??= oidc
      .discovery(
        issuer,
        clientId,
        clientSecret ?? undefined,
        clientSecret === null ? oidc.None() : undefined,
        {
          execute: isPlain ? [oidc.allowInsecureRequests] : [],
          timeout: 10,
        },
      )
      .catch(error => {
        this.found = null
        throw new ServiceError('store_away', 'The provider of sign-on does not answer; try again', {
          cause: error,
        })
      })
    return this.found
  }
}

/** errors: forbidden (403), unless the address is verified and of one of the domains; no domains allow every one. */
function mustBeAllowed(email: string | null, verified: boolean, domains: readonly string[]): void {
  if (domains.length === 0) return
  const domain = email?.slice(email.lastIndexOf('@') + 1).toLowerCase()
  if (!verified || domain === undefined || !domains.includes(domain))
    throw new ServiceError('forbidden', 'Only verified addresses of this organisation sign in here')
}

const groupsOf = (claim: unknown): readonly string[] =>
  typeof claim === 'string'
    ? [claim]
    : Array.isArray(claim)
      ? claim.filter(one => typeof one === 'string')
      : []

/**
 * The roles of a member of these groups: of several the higher one.
 *
 * map       group, or "*" for everybody, to a role everywhere or to roles by environment name or id.
 * byName    environment ids by name; a name that no environment has gives nothing.
 */
export function rolesOf(
  groups: readonly string[],
  map: SignOnSettings['roles'],
  byName: ReadonlyMap<string, string>,
): RoleMap {
  const ids = new Set(byName.values())
  const given = [...groups, '*'].flatMap(group => (Object.hasOwn(map, group) ? [map[group]!] : []))
  const maps = given.map((one): RoleMap => (typeof one === 'string' ? { '*': one } : byId(one, ids, byName)))
  const roles: Record<string, ConsoleRole> = {}
  for (const where of new Set(maps.flatMap(one => Object.keys(one))))
    for (const one of maps) {
      const role = higher(roles[where] ?? null, one[where] ?? one['*'] ?? null)
      if (role !== null) roles[where] = role
    }
  return roles
}

const byId = (map: RoleMap, ids: ReadonlySet<string>, byName: ReadonlyMap<string, string>): RoleMap =>
  Object.fromEntries(
    Object.entries(map).flatMap(([where, role]) => {
      const id = where === '*' || ids.has(where) ? where : byName.get(where)
      return id === undefined ? [] : [[id, role]]
    }),
  )
