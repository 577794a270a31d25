import { randomBytes } from 'node:crypto'
import type { Broker } from '../broker.ts'
import { OutgoingError } from '../egress/outgoing.ts'
import { lacksValues, withConnectionValues } from '../providers/connection-values.ts'
import { endpointsOf, originAndPath, tokenRequestIn } from '../providers/provider-endpoints.ts'
import type { ProviderEntry, RegisteredClient } from '../providers/provider-entry.ts'
import { isUserless } from '../providers/provider-grant.ts'
import { ProviderRefusal } from '../providers/provider-refusal.ts'
import { missingSettings, registeredClient } from './get-provider.ts'

const TIMEOUT_MS = 5_000

/** The result of testing one point of a provider entry. `unknown`: the test could not tell. */
export interface TestedPoint {
  readonly point: string
  readonly outcome: 'ok' | 'warning' | 'failed' | 'unknown'
  readonly message: string
}

/**
 * Tests an entry without a user and without changing anything: its settings, its issuer's metadata, whether each host
 * answers, and whether the provider accepts the client: with a made-up code (RFC 6749 section 5.2), by one token where the
 * client asks without a user, or by temporary credentials (RFC 5849 section 2.1). Nothing that is answered is kept. The test is
 * recorded in the audit trail, since it uses the client's secret.
 */
export async function testProvider(broker: Broker, entry: ProviderEntry): Promise<readonly TestedPoint[]> {
  const { projectId, id: providerId } = entry
  await broker.audit.record(projectId, { action: 'provider.tested', providerId })
  const [metadata, reached, client] = await Promise.all([
    testMetadata(broker, entry),
    testHosts(broker, entry),
    testClient(broker, entry),
  ])
  return [testSettings(broker, entry), metadata, ...reached, client]
}

function testSettings(broker: Broker, entry: ProviderEntry): TestedPoint {
  const point = 'Settings'
  const missing = missingSettings(broker, entry)
  if (missing.length > 0)
    return { point, outcome: 'failed', message: `The entry has no ${missing.join(' and no ')} yet.` }
  if (entry.status === 'inactive')
    return { point, outcome: 'warning', message: 'They are complete, and the entry is switched off.' }
  return { point, outcome: 'ok', message: 'They are complete.' }
}

async function testMetadata({ discover }: Broker, { provider }: ProviderEntry): Promise<TestedPoint> {
  const point = 'Metadata'
  const { issuer } = provider
  if (issuer === undefined)
    return {
      point,
      outcome: 'unknown',
      message: 'The entry names no issuer, so there is no metadata to compare it with.',
    }
  try {
    const { authorization_endpoint, token_endpoint } = await discover(issuer)
    const { authorization, token } = endpointsOf(provider)
    const compared = [
      ['authorization', authorization_endpoint, authorization],
      ['token', token_endpoint, token],
    ] as const
    const others = compared.filter(([, told, own]) => own !== undefined && originAndPath(told) !== own)
    if (others.length === 0)
      return { point, outcome: 'ok', message: `${issuer} names the endpoints that the entry has.` }
    const said = others.map(([role, told]) => `${originAndPath(told)} as its ${role} endpoint`).join(' and ')
    return { point, outcome: 'warning', message: `${issuer} names ${said}; the entry has another.` }
  } catch (error) {
    if (!(error instanceof ProviderRefusal)) throw error
    return { point, outcome: 'failed', message: error.message }
  }
}

/** Sends one request to each origin: to the authorization endpoint itself, and to the root of the others. */
async function testHosts({ outgoing }: Broker, entry: ProviderEntry): Promise<TestedPoint[]> {
  // without values, so that no request is sent to the examples in the stored endpoints
  const provider = withConnectionValues(entry.provider, {})
  const rolesOf = new Map<string, string[]>()
  for (const [role, endpoint] of Object.entries(endpointsOf(provider))) {
    const { origin } = new URL(endpoint)
    rolesOf.set(origin, [...(rolesOf.get(origin) ?? []), role.replaceAll('_', ' ')])
  }
  const opened = endpointsOf(provider).authorization
  return Promise.all(
    [...rolesOf].map(async ([origin, roles]): Promise<TestedPoint> => {
      const { host } = new URL(origin)
      if (lacksValues({ endpoint: `${origin}/` }))
        return {
          point: `An address of each user (${roles.join(', ')})`,
          outcome: 'unknown',
          message: 'It depends on a value that each user has, so no request was sent.',
        }
      const point = `${readable(host)} (${roles.join(', ')})`
      if (isTemplate(origin))
        return { point, outcome: 'unknown', message: 'Its host depends on a value that is not set.' }
      const page = opened && new URL(opened).origin === origin && !isTemplate(opened) ? opened : undefined
      try {
        const { status } = await outgoing.send({ url: page ?? origin, deadlineMs: TIMEOUT_MS })
        if (status >= 500) return { point, outcome: 'warning', message: `It answers with HTTP ${status}.` }
        if (page !== undefined && (status === 404 || status === 410))
          return {
            point,
            outcome: 'warning',
            message: `It answers, and has no page at the authorization endpoint (HTTP ${status}): look at its path.`,
          }
        return { point, outcome: 'ok', message: 'It answers.' }
      } catch (error) {
        if (!(error instanceof OutgoingError)) throw error
        return error.kind === 'redirected' || error.kind === 'too_large'
          ? { point, outcome: 'ok', message: 'It answers.' }
          : { point, outcome: 'failed', message: error.message }
      }
    }),
  )
}

const isTemplate = (endpoint: string) => /\{\{|%7b%7b/i.test(endpoint)
const readable = (host: string) => host.replaceAll(/%7b/gi, '{').replaceAll(/%7d/gi, '}')

/** A server authenticates the client before it checks the code, so its refusal of a made-up code shows whether it accepts the client. */
async function testClient(broker: Broker, entry: ProviderEntry): Promise<TestedPoint> {
  const point = 'Client'
  const unknown = (message: string): TestedPoint => ({ point, outcome: 'unknown', message })
  const { provider } = entry
  if (provider.credentials !== undefined)
    return unknown('Users type credentials, so there is no client: each is checked when it is typed.')
  if (missingSettings(broker, entry).length > 0)
    return unknown('It is not complete, so the provider was not asked.')
  const registered = registeredClient(broker, entry)
  if (provider.impersonation !== undefined)
    return unknown(
      'Tokens are asked for in the name of users, and the test has none, so the provider was not asked.',
    )
  if (isUserless(provider) || provider.oauth1 !== undefined) return testAlone(broker, registered)
  if (lacksValues(tokenRequestIn(registered.provider)))
    return unknown('The token endpoint depends on a value that each user has, so no request was sent to it.')
  const state = randomBytes(16).toString('base64url')
  const response = new URLSearchParams({ code: `test-${randomBytes(24).toString('base64url')}`, state })
  if (provider.issuer !== undefined) response.set('iss', provider.issuer)
  try {
    await broker.oauth.redeem(
      registered,
      response,
      { ...broker.oauth.secretsFor(registered, []), providerIdentity: '' },
      { signal: AbortSignal.timeout(2 * TIMEOUT_MS) },
    )
    return { point, outcome: 'warning', message: 'The provider gave a token for a code that was made up.' }
  } catch (error) {
    if (!(error instanceof ProviderRefusal)) throw error
    switch (error.reason) {
      case 'invalid_client':
        return { point, outcome: 'failed', message: error.message }
      case 'invalid_grant':
        return {
          point,
          outcome: 'ok',
          message: `${provider.displayName} refused only the made-up code (invalid_grant). It accepted the client, which servers check first.`,
        }
      case 'provider_unavailable':
        return unknown(error.message)
      default:
        return unknown(`${error.message} That does not say whether the client is right.`)
    }
  }
}

/** Where no code is redeemed, the client's own request tells: for a token, or for temporary credentials. */
async function testAlone(broker: Broker, registered: RegisteredClient): Promise<TestedPoint> {
  const point = 'Client'
  const { provider } = registered
  const { displayName, defaultScopes: scopes, oauth1 } = provider
  try {
    if (oauth1 !== undefined) {
      const state = randomBytes(16).toString('base64url')
      await broker.oauth.begin(registered, { state, scopes: [], existingScopes: [] })
      return {
        point,
        outcome: 'ok',
        message: `${displayName} gave temporary credentials for the signed request.`,
      }
    }
    const guard = { signal: AbortSignal.timeout(2 * TIMEOUT_MS) }
    await broker.oauth.requestToken(registered, { scopes, userId: '' }, guard)
    const which = scopes.length > 0 ? `the scopes ${scopes.join(' ')}` : 'no scope'
    return { point, outcome: 'ok', message: `${displayName} gave a token for ${which}. It was dropped.` }
  } catch (error) {
    if (!(error instanceof ProviderRefusal)) throw error
    const outcome = error.reason === 'provider_unavailable' ? 'unknown' : 'failed'
    return { point, outcome, message: error.message }
  }
}
