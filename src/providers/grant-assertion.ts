import { randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import type { EpochSeconds } from '../domain/clock.ts'
import type { GrantAssertion } from './client-auth-method.ts'
import { withKey } from './client-authentication.ts'
import { signed } from './client-key.ts'
import type { Provider } from './provider.ts'
import { tokenRequestIn } from './provider-endpoints.ts'
import type { Client, RegisteredClient } from './provider-entry.ts'
import { isInstalled } from './provider-grant.ts'
import { renderTemplate, type TemplateValues } from './template.ts'
import { fixedValues } from './variables.ts'

// The JWT that a client exchanges for a token (RFC 7523 section 2.1).

/** What a token is asked for. */
export interface AssertedNeed {
  readonly scopes: readonly string[]
  /** The user in whose name it is asked for, where the entry impersonates. */
  readonly userId: string
}

/** For an entry without `assertion`. */
export const USUAL_ASSERTION: GrantAssertion = { algorithm: 'RS256', lifetimeSeconds: 300 }

/** Clocks differ: an assertion from the server's future is refused. GitHub asks for a minute. */
const BACKDATED_SECONDS = 30
const BACKDATED_SECONDS_OF_INSTALLATIONS = 60

/** How long before now `iat` is. It counts in the assertion's lifetime. */
export function backdatedSeconds(provider: Pick<Provider, 'grant'>): number {
  return isInstalled(provider) ? BACKDATED_SECONDS_OF_INSTALLATIONS : BACKDATED_SECONDS
}

/**
 * The assertion for one token request, which no other request repeats. Throws `ProviderRefusal` (`invalid_client`) if the
 * client secret is not the key that the entry's algorithm needs.
 */
export async function grantAssertion(
  registered: RegisteredClient,
  { scopes, userId }: AssertedNeed,
  now: EpochSeconds,
): Promise<string> {
  const { provider, client } = registered
  const assertion = provider.assertion ?? USUAL_ASSERTION
  const { issuer = '{{client_id}}', audience, lifetimeSeconds, claims = {} } = assertion
  const values = valuesFor(provider, client, userId)
  const filled = (template: string) => renderTemplate(template, values)
  const own = Object.entries(claims).flatMap(([name, value]) => {
    const claim = typeof value === 'string' ? renderTemplate(value, { ...values, scopes }) : value
    return claim === '' ? [] : [[name, claim]]
  })
  const subject = assertedSubject(registered, userId)
  const issuedAt = now - backdatedSeconds(provider)
  const audienceClaim = filled(audience ?? provider.issuer ?? tokenRequestIn(provider).endpoint)
  const jwt = new SignJWT(Object.fromEntries(own))
    .setIssuer(filled(issuer))
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + lifetimeSeconds)
    .setJti(randomUUID())
  if (subject !== '') jwt.setSubject(subject)
  if (audienceClaim !== '') jwt.setAudience(audienceClaim)
  return withKey(registered, () =>
    signed(jwt, { ...assertion, type: 'JWT' }, client.privateKey ?? client.clientSecret ?? '', filled),
  )
}

/** Whom the token is for, as the assertion names them; empty: the client itself, without `sub`. */
export function assertedSubject(
  { provider, client }: Pick<RegisteredClient, 'provider' | 'client'>,
  userId: string,
): string {
  const { subject = '{{client_id}}' } = provider.assertion ?? USUAL_ASSERTION
  return renderTemplate(subject, valuesFor(provider, client, userId))
}

/** The templates of an entry's claims. */
export function claimTemplates({ assertion }: Pick<Provider, 'assertion'>): string[] {
  return Object.values(assertion?.claims ?? {}).filter((claim) => typeof claim === 'string')
}

function valuesFor(provider: Provider, { clientId }: Client, userId: string): TemplateValues {
  return {
    client_id: clientId,
    scopeSeparator: provider.scopeSeparator,
    kept: { ...fixedValues(provider), user_id: userId },
  }
}
