import type { Broker, DashboardIssuer } from '../../broker.ts'
import { randomToken, sha256 } from '../../domain/ids.ts'
import type { Members } from '../../providers/response-body.ts'
import { only } from '../authorization-response.ts'
import { authTimeOf, identifyClaims, type LoginTrouble, loginRegistration } from '../identify-user.ts'
import { type BegunLogin, openLogin, sealLogin } from '../login/login-state.ts'
import { LONGEST_SECONDS } from '../page-session.ts'
import { issuerAuthority, logInFromIssuer, type RoleGrant } from './console-session.ts'

// Operators log in at `GATEPASS_DASHBOARD_ISSUER`, with its own client and redirect URI, so that a response of the issuer of
// users is never accepted here (RFC 9700 section 4.4). `GATEPASS_DASHBOARD_ROLES` says who may log in, with which role.

export const CONSOLE_CALLBACK = '/dashboard/callback'

/** Sends the operator to the issuer. Throws `ProviderRefusal` when it cannot be reached. */
export async function beginConsoleLogin(
  broker: Broker,
  issuer: DashboardIssuer,
  {
    browserId,
    returnTo,
    confirms,
  }: {
    readonly browserId: string
    readonly returnTo: string
    /** The operator logs in again to confirm a session of this subject, so the issuer must ask for the credentials. */
    readonly confirms?: string | undefined
  },
): Promise<BegunLogin> {
  const registration = await loginRegistration(broker, issuer, redirectUri(broker))
  const state = randomToken()
  const secrets = broker.login.newSecrets()
  const purpose = { console: { returnTo, ...(confirms !== undefined && { confirms }) } }
  return {
    ...sealLogin(broker, { state, browserId, verifier: issuerAuthority(broker), purpose, secrets }),
    loginUrl: await broker.login.authorizationUrl(registration, {
      state,
      secrets,
      scopes: issuer.scopes,
      // with `max_age` the issuer has to say when the operator logged in (OpenID Connect Core section 2)
      ...(confirms === undefined ? { maxAge: LONGEST_SECONDS.console } : { prompt: 'login', maxAge: 0 }),
    }),
  }
}

export type ConsoleLogin =
  | {
      readonly outcome: 'logged_in'
      readonly begun: { readonly token: string; readonly seconds: number }
      readonly returnTo: string
    }
  /** Forged, expired, of another browser, or sent twice. */
  | { readonly outcome: 'unknown_login' }
  | { readonly outcome: 'trouble'; readonly trouble: LoginTrouble | 'not_allowed' | 'another_operator' }

/** Finishes the login that this browser began, with a new session. It works once, because the issuer redeems the code once. */
export async function finishConsoleLogin(
  broker: Broker,
  issuer: DashboardIssuer,
  {
    query,
    browserId,
    kept: sealed,
    replaces,
    shownProjectId,
  }: {
    readonly query: URLSearchParams
    readonly browserId: string | undefined
    readonly kept: string | undefined
    readonly replaces: string | undefined
    readonly shownProjectId: string | undefined
  },
): Promise<ConsoleLogin> {
  const state = only(query, 'state')
  if (state === undefined || browserId === undefined) return { outcome: 'unknown_login' }
  const stateHash = sha256(state)
  const kept = openLogin(broker, { stateHash, browserId, verifier: issuerAuthority(broker), kept: sealed })
  if (kept?.secrets === undefined || !('console' in kept)) return { outcome: 'unknown_login' }
  const asUser = userClaimAt(broker, issuer)
  const needed = [...new Set([...issuer.rules.map(({ claim }) => claim), asUser].flatMap(claimsFor))]
  const identified = await identifyClaims(
    broker,
    issuer,
    { query, secrets: kept.secrets },
    { needed, redirectUri: redirectUri(broker) },
  )
  if ('trouble' in identified) {
    const { trouble, why } = identified
    broker.log.warn({ issuer: issuer.issuer, trouble, why }, 'an operator could not log in')
    return { outcome: 'trouble', trouble }
  }
  const { claims } = identified
  const subject = typeof claims.sub === 'string' ? claims.sub : ''
  const { returnTo, confirms } = kept.console
  if (confirms !== undefined && confirms !== subject)
    return { outcome: 'trouble', trouble: 'another_operator' }
  const userIds = [subject, claims.email, claims[asUser]].filter((id) => typeof id === 'string')
  // whose user id is not known might decide about their own calls
  const isKnown = typeof claims[asUser] === 'string'
  const grants =
    subject === '' ? [] : grantsOf(issuer, claims).filter(({ role }) => isKnown || role !== 'approver')
  const begun = await logInFromIssuer(broker, {
    subject,
    display: displayOf(claims),
    userIds,
    grants,
    authTime: authTimeOf(claims, broker.now(), { wasAsked: confirms !== undefined }),
    replaces,
    shownProjectId,
  })
  if (begun !== undefined) return { outcome: 'logged_in', begun, returnTo }
  broker.log.warn(
    { issuer: issuer.issuer, subject },
    'an operator logged in whom no rule of GATEPASS_DASHBOARD_ROLES lets in',
  )
  return { outcome: 'trouble', trouble: 'not_allowed' }
}

/** The claims that a rule needs: an email address counts only if the issuer has verified it. */
function claimsFor(claim: string): string[] {
  return claim === 'email' ? ['email', 'email_verified'] : [claim]
}

function grantsOf({ rules }: DashboardIssuer, claims: Members): readonly RoleGrant[] {
  return rules
    .filter(({ claim, value }) => {
      if (claim === 'email' && claims.email_verified !== true) return false
      const has = claims[claim]
      return Array.isArray(has) ? has.includes(value) : has === value
    })
    .map(({ role, group, project }) => ({ role, group, project }))
}

/** The claim that is the person's id as a user, where users log in at the same issuer. */
function userClaimAt({ settings: { verifier } }: Broker, { issuer }: DashboardIssuer): string {
  return verifier.kind === 'oidc' && verifier.issuer === issuer ? verifier.claim : 'sub'
}

function displayOf(claims: Members): string | undefined {
  return [claims.email, claims.preferred_username, claims.name]
    .find((claim) => typeof claim === 'string' && claim !== '')
    ?.toString()
    .slice(0, 200)
}

function redirectUri({ settings }: Broker): string {
  return new URL(CONSOLE_CALLBACK, settings.publicUrl).href
}
