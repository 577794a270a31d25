import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context, MiddlewareHandler } from 'hono'
import type { Broker } from '../../broker.ts'
import { formatRetryAfter } from '../../egress/retry-after.ts'
import { bodyLimit } from '../../http/endpoint/body-limit.ts'
import { createClientAddress } from '../../http/endpoint/client-address.ts'
import { createAddressLimit } from '../../http/endpoint/rate-limit.ts'
import { verifiedHost } from '../../http/mcp-setup/client-identity.ts'
import { createPendingLimit } from '../../services/pending-limit.ts'
import { ClientMetadataFault, registrationMetadata } from './client-metadata.ts'
import { createRefuse, toBrowser, toClient } from './koa-answer.ts'
import { openidConfiguration, serverMetadata } from './metadata.ts'
import { type KoaAnswer, serveWithKoa } from './node-request.ts'
import type { AuthorizationServerParts } from './parts.ts'
import { PATHS } from './paths.ts'
import { INTERACTION_SECONDS } from './provider.ts'
import { UNAPPROVED_CLIENT_SECONDS } from './record-adapter.ts'
import { offeredScopes } from './resources.ts'
import { publicJwk, type SigningKeys } from './signing-keys.ts'

const MAX_BODY_BYTES = 48 * 1024
/** Limits of the installation: authorization requests that wait for their user, and clients without an approval. */
const MAX_INTERACTIONS = 20_000
const MAX_UNAPPROVED_CLIENTS = 10_000
/** The key of both limits, which count the whole installation and not one project. */
const ALL_PROJECTS = ''
/** Limits of one address. Many users share the address of a proxy that GATEPASS_TRUSTED_PROXIES does not name. */
const LIMITS = {
  authorize: { burst: 300, perSecond: 10 },
  token: { burst: 600, perSecond: 20 },
  // in a day, after which an unapproved client is deleted, one address adds fewer than MAX_UNAPPROVED_CLIENTS
  register: { burst: 100, perSecond: 0.1 },
} as const
const METADATA_SECONDS = 300

/** The endpoints that clients and browsers use: metadata, authorization, token, registration, revocation and keys. */
export function addEndpoints(
  app: OpenAPIHono,
  broker: Broker,
  { keys, provider, projectId }: AuthorizationServerParts & { readonly keys: SigningKeys },
): void {
  const { settings, store, now } = broker
  const { publicUrl } = settings
  const refuse = createRefuse(broker, projectId)
  const registers = settings.mcp.registration === 'on'
  const countExpiringIn = (model: string, seconds: number) => (_: string, at: number) =>
    store.mcpRecords.countExpiring(model, at, at + seconds)
  const interactions = createPendingLimit(
    countExpiringIn('Interaction', INTERACTION_SECONDS),
    MAX_INTERACTIONS,
    now,
  )
  const unapproved = createPendingLimit(
    // the record of a client that has got an access token lives longer
    countExpiringIn('Client', UNAPPROVED_CLIENT_SECONDS),
    MAX_UNAPPROVED_CLIENTS,
    now,
  )

  const clientAddress = createClientAddress(settings)
  /** Whether the address has sent too many requests. Then sets `Retry-After`. */
  function isTooFast(c: Context, limit: ReturnType<typeof createAddressLimit>): boolean {
    const seconds = limit(clientAddress(c))
    if (seconds > 0) c.header('retry-after', formatRetryAfter(seconds))
    return seconds > 0
  }

  async function serve(c: Context, path: string, body?: string): Promise<KoaAnswer> {
    const handler = (await provider()).callback()
    return serveWithKoa(handler, { publicUrl, method: c.req.method, path, headers: c.req.raw.headers, body })
  }

  /** Whether the client has got an access token, by a user's approval, or the target is on its own verified host. */
  async function isTrusted(clientId: string, target: URL): Promise<boolean> {
    if (verifiedHost(clientId) === target.host) return true
    const client = await store.mcpRecords.find('Client', clientId, now())
    return client?.expiresAt !== undefined && client.expiresAt > now() + UNAPPROVED_CLIENT_SECONDS
  }

  for (const [path, document] of [
    [PATHS.metadata, serverMetadata(publicUrl, { registers })],
    [PATHS.openidConfiguration, openidConfiguration(publicUrl, { registers })],
  ] as const) {
    app.use(path, openToBrowsers('GET'))
    app.get(path, (c) => {
      c.header('cache-control', `public, max-age=${METADATA_SECONDS}`)
      return c.json(document)
    })
  }

  app.use(PATHS.jwks, openToBrowsers('GET'))
  app.get(PATHS.jwks, async (c) => {
    c.header('cache-control', `public, max-age=${METADATA_SECONDS}`)
    return c.json({ keys: (await keys.current()).map(publicJwk) })
  })

  const authorizeLimit = createAddressLimit(LIMITS.authorize)
  app.get(PATHS.authorization, async (c) => {
    if (isTooFast(c, authorizeLimit)) return refuse(c, 429, { error: 'temporarily_unavailable' })
    if (await interactions.isFull(ALL_PROJECTS)) return refuse(c, 503, { error: 'temporarily_unavailable' })
    const answer = await serve(c, `${PATHS.authorization}?${authorizationQuery(c.req.url)}`)
    interactions.added(ALL_PROJECTS)
    const target = clientTarget(answer, publicUrl)
    if (target === undefined || (await isTrusted(c.req.query('client_id') ?? '', target)))
      return toBrowser(c, answer, refuse)
    return refuse(c, 400, { error: target.searchParams.get('error') ?? 'invalid_request', target })
  })
  app.get(`${PATHS.authorization}/:uid`, async (c) =>
    toBrowser(c, await serve(c, `${PATHS.authorization}/${encodeURIComponent(c.req.param('uid'))}`), refuse),
  )

  const tokenLimit = createAddressLimit(LIMITS.token)
  for (const path of [PATHS.token, PATHS.revocation]) {
    app.use(path, openToBrowsers('POST'), bodyLimit(MAX_BODY_BYTES))
    app.post(path, async (c) => {
      if (isTooFast(c, tokenLimit)) return c.json(BUSY, 429)
      return toClient(c, await serve(c, path, await c.req.text()))
    })
  }

  if (!registers) return
  const registerLimit = createAddressLimit(LIMITS.register)
  app.use(PATHS.registration, openToBrowsers('POST'), bodyLimit(MAX_BODY_BYTES))
  app.post(PATHS.registration, async (c) => {
    c.header('cache-control', 'no-store')
    if (isTooFast(c, registerLimit)) return c.json(BUSY, 429)
    if (await unapproved.isFull(ALL_PROJECTS)) return c.json(BUSY, 503)
    try {
      const members = registrationMetadata(readJson(await c.req.text()))
      const answer = await serve(c, PATHS.registration, JSON.stringify(members))
      unapproved.added(ALL_PROJECTS)
      return toClient(c, answer)
    } catch (error) {
      if (!(error instanceof ClientMetadataFault)) throw error
      return c.json({ error: error.code, error_description: error.message }, 400)
    }
  })
}

/**
 * Returns the client's redirect URI if the answer redirects to the client at once. Before any page was shown, such an
 * answer is an error. Anyone can register a client, so Gatepass would be an open redirector (RFC 9700 section 4.11.2).
 */
function clientTarget({ status, headers }: KoaAnswer, publicUrl: URL): URL | undefined {
  const location = headers.find(([name]) => name === 'location')?.[1]
  if (location === undefined || status < 300 || status >= 400) return undefined
  const target = new URL(location, publicUrl)
  return target.origin === publicUrl.origin ? undefined : target
}

const BUSY = { error: 'temporarily_unavailable', error_description: 'Too many requests. Try again later.' }

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ClientMetadataFault('invalid_client_metadata', 'The body of the request is not JSON.')
  }
}

/**
 * The parameters of the authorization request with offered scopes only. A response mode other than `query` becomes one
 * that oidc-provider refuses.
 */
function authorizationQuery(url: string): URLSearchParams {
  const query = new URL(url).searchParams
  query.set('scope', offeredScopes(query.get('scope')))
  const mode = query.get('response_mode')
  if (mode !== null && mode !== 'query') query.set('response_mode', 'not_offered')
  return query
}

/** Permits pages of any origin to call an endpoint (CORS), for clients in a browser. These endpoints read no cookie. */
function openToBrowsers(method: 'GET' | 'POST'): MiddlewareHandler {
  return async (c, next) => {
    c.header('access-control-allow-origin', '*')
    c.header('access-control-expose-headers', 'WWW-Authenticate, Retry-After')
    if (c.req.method !== 'OPTIONS') return next()
    c.header('access-control-allow-methods', `${method}, OPTIONS`)
    c.header('access-control-allow-headers', 'Authorization, Content-Type, Accept, MCP-Protocol-Version')
    c.header('access-control-max-age', '3600')
    return c.body(null, 204)
  }
}
