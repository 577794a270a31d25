import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context, MiddlewareHandler } from 'hono'
import type { Broker } from '../../broker.ts'
import { verifiedHost } from '../../domain/mcp-client-identity.ts'
import { formatRetryAfter } from '../../egress/retry-after.ts'
import { sessionOf } from '../../http/connect/session-login.ts'
import { bodyLimit } from '../../http/endpoint/body-limit.ts'
import { createClientAddress } from '../../http/endpoint/client-address.ts'
import { createAddressLimit } from '../../http/endpoint/rate-limit.ts'
import { createPendingLimit } from '../../services/pending-limit.ts'
import { hasAllowed } from './approval.ts'
import { ClientMetadataFault, registrationMetadata } from './client-metadata.ts'
import { createRefuse, toBrowser, toClient } from './koa-answer.ts'
import { openidConfiguration, serverMetadata } from './metadata.ts'
import { type KoaAnswer, serveWithKoa } from './node-request.ts'
import type { AuthorizationServerParts } from './parts.ts'
import { PATHS } from './paths.ts'
import { offeredScopes } from './resources.ts'
import { inRequest, type ServedRequest } from './served-request.ts'
import { publicJwk, type SigningKeys } from './signing-keys.ts'

const MAX_BODY_BYTES = 48 * 1024
/** A client without an approval is kept for a day, so that strangers could fill the database with larger ones. */
const MAX_REGISTRATION_BYTES = 8 * 1024
/** The most clients of the installation without an approval. Of more, the oldest of the network with most is deleted. */
const MAX_UNAPPROVED_CLIENTS = 10_000
/** The key of the limit, which counts the whole installation and not one project. */
const ALL_PROJECTS = ''
/** Limits of one address. Many users share the address of a proxy that GATEPASS_TRUSTED_PROXIES does not name. */
const LIMITS = {
  authorize: { burst: 300, perSecond: 10 },
  token: { burst: 600, perSecond: 20 },
  register: { burst: 100, perSecond: 0.1 },
} as const
const METADATA_SECONDS = 300

/** The endpoints that clients and browsers use: metadata, authorization, token, registration, revocation and keys. */
export function addEndpoints(
  app: OpenAPIHono,
  broker: Broker,
  {
    keys,
    provider,
    projectId,
    maxUnapproved = MAX_UNAPPROVED_CLIENTS,
  }: AuthorizationServerParts & { readonly keys: SigningKeys; readonly maxUnapproved?: number },
): void {
  const { settings, store, now } = broker
  const { publicUrl } = settings
  const refuse = createRefuse(broker, projectId)
  const registers = settings.mcp.registration === 'on'
  const readsDocuments = settings.mcp.clientDocuments === 'on'
  const unapproved = createPendingLimit(() => store.mcpRecords.countUnapproved(), maxUnapproved, now)

  const clientAddress = createClientAddress(settings)
  /** Whether the address has sent too many requests. Then sets `Retry-After`. */
  function isTooFast(c: Context, limit: ReturnType<typeof createAddressLimit>): boolean {
    const seconds = limit(clientAddress(c))
    if (seconds > 0) c.header('retry-after', formatRetryAfter(seconds))
    return seconds > 0
  }

  async function serve(
    c: Context,
    path: string,
    body?: string,
  ): Promise<KoaAnswer & Pick<ServedRequest, 'notFetched'>> {
    const handler = (await provider()).callback()
    const request: ServedRequest = { c, address: clientAddress(c) }
    const { method, raw } = c.req
    const answer = await inRequest(request, () =>
      serveWithKoa(handler, { publicUrl, method, path, headers: raw.headers, body }),
    )
    const { notFetched } = request
    return { ...answer, notFetched }
  }

  /**
   * The host of the client's own metadata document, if the request failed because of it. Every such failure has the same
   * answer, which tells a stranger nothing about a host inside the network.
   */
  function unreadDocument(
    { status, body, notFetched }: KoaAnswer & Pick<ServedRequest, 'notFetched'>,
    clientId: string,
  ): ServedRequest['notFetched'] {
    const host = verifiedHost(clientId)
    if (!readsDocuments || host === undefined || status < 400) return undefined
    const isOfClient = notFetched !== undefined || /^.{0,40}"error":"invalid_client/.test(body ?? '')
    return isOfClient ? (notFetched ?? { host }) : undefined
  }

  /** Whether the user who has logged in in this browser has allowed the client at the redirect URI of the request. */
  async function isTrusted(c: Context): Promise<boolean> {
    const { client_id: clientId = '', redirect_uri: redirectUri } = c.req.query()
    const session = await sessionOf(c, broker, projectId)
    if (session === undefined || redirectUri === undefined) return false
    return hasAllowed(broker, { projectId, userId: session.userId, clientId, redirectUri })
  }

  for (const [path, document] of [
    [PATHS.metadata, serverMetadata(publicUrl, { registers, readsDocuments })],
    [PATHS.openidConfiguration, openidConfiguration(publicUrl, { registers, readsDocuments })],
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
    const answer = await serve(c, `${PATHS.authorization}?${authorizationQuery(c.req.url)}`)
    const unread = unreadDocument(answer, c.req.query('client_id') ?? '')
    if (unread !== undefined && 'retryAfter' in unread) {
      c.header('retry-after', formatRetryAfter(unread.retryAfter))
      return refuse(c, 429, { error: 'temporarily_unavailable' })
    }
    if (unread !== undefined) return refuse(c, 400, { error: 'client_document', documentAt: unread.host })
    const target = clientTarget(answer, publicUrl)
    if (target === undefined || (await isTrusted(c))) return toBrowser(c, answer, refuse)
    return refuse(c, 400, { error: target.searchParams.get('error') ?? 'invalid_request', target })
  })
  app.get(`${PATHS.authorization}/:uid`, async (c) => {
    if (isTooFast(c, authorizeLimit)) return refuse(c, 429, { error: 'temporarily_unavailable' })
    const path = `${PATHS.authorization}/${encodeURIComponent(c.req.param('uid'))}`
    return toBrowser(c, await serve(c, path), refuse)
  })

  const tokenLimit = createAddressLimit(LIMITS.token)
  for (const path of [PATHS.token, PATHS.revocation]) {
    app.use(path, openToBrowsers('POST'), bodyLimit(MAX_BODY_BYTES))
    app.post(path, async (c) => {
      if (isTooFast(c, tokenLimit)) return c.json(BUSY, 429)
      const body = await c.req.text()
      const answer = await serve(c, path, body)
      const unread = unreadDocument(answer, new URLSearchParams(body).get('client_id') ?? '')
      return unread === undefined ? toClient(c, answer) : c.json(UNREAD_DOCUMENT, 401)
    })
  }

  if (!registers) return
  const registerLimit = createAddressLimit(LIMITS.register)
  app.use(PATHS.registration, openToBrowsers('POST'), bodyLimit(MAX_REGISTRATION_BYTES))
  app.post(PATHS.registration, async (c) => {
    c.header('cache-control', 'no-store')
    if (isTooFast(c, registerLimit)) return c.json(BUSY, 429)
    try {
      const members = registrationMetadata(readJson(await c.req.text()))
      // the newest client is never refused: its user waits for it
      if (await unapproved.isFull(ALL_PROJECTS)) await store.mcpRecords.evictUnapproved()
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

const UNREAD_DOCUMENT = {
  error: 'invalid_client',
  error_description: 'The metadata document of the client cannot be used.',
}

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
