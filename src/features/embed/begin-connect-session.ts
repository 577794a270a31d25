import type { Broker } from '../../broker.ts'
import type { Authorization } from '../../domain/authorization.ts'
import { isConfidential } from '../../domain/confidential-url.ts'
import { BrokerError, invalidMember } from '../../domain/errors.ts'
import { newId, randomToken, sha256 } from '../../domain/ids.ts'
import { toolId } from '../../domain/tool.ts'
import { acquireConnections, type ProviderNeed } from '../../flows/acquire-tokens.ts'
import { findProviderByUid, getActiveProvider, requireActive } from '../../flows/get-provider.ts'
import { givenFor } from '../../flows/given-values.ts'
import { withoutUndefined } from '../../sdk/without-undefined.ts'
import { actForTool, mayActFor } from '../../services/request-context.ts'
import { getTool } from '../../tools/catalogue/get-tool.ts'
import { toolNeeds } from '../../tools/run/tool-tokens.ts'
import { sessionAudit } from './connect-session.ts'
import { CONNECT_SESSION_SECONDS, type ConnectSession } from './domain.ts'

/** What a caller asks of a session. One of `providerId`, `tool` and `connectionId` says what is to be connected. */
export interface SessionRequest {
  readonly projectId: string
  readonly userId: string
  readonly providerId?: string | null | undefined
  readonly tool?: string | null | undefined
  readonly connectionId?: string | null | undefined
  readonly scopes?: readonly string[] | null | undefined
  readonly account?: string | null | undefined
  readonly variables?: Readonly<Record<string, string>> | null | undefined
  /** The origin of the page, as browsers send it. */
  readonly allowedOrigin: string
  readonly nextUri?: string | null | undefined
  readonly userDisplay?: string | null | undefined
  readonly lang?: string | null | undefined
}

/** The members of `SessionRequest` that say what is to be connected, as requests name them. */
const NEED_MEMBERS = ['provider_id', 'tool', 'connection_id'] as const

export interface BegunSession {
  readonly session: ConnectSession
  /** 256 random bits. Only the hash is stored. */
  readonly token: string
  /** Absent: a connection covers the need already. */
  readonly authorization?: Authorization
}

/**
 * Begins an authorization that pages of one origin may open and follow. If connections cover the need, the session is
 * completed from the start. Throws `invalid_request` for a request that does not say exactly one need, and for an origin
 * that is none, and what `acquireConnections` throws.
 */
export async function beginConnectSession(broker: Broker, request: SessionRequest): Promise<BegunSession> {
  const { store, now } = broker
  const { projectId, userId } = request
  const { providers, requester } = await neededBy(broker, request)
  const origin = checkedOrigin(broker, request.allowedOrigin)
  const id = newId('cs')
  const token = `gps_${randomToken()}`
  const acquired = await acquireConnections(broker, {
    projectId,
    userId,
    providers,
    connectSessionId: id,
    ...withoutUndefined({
      requester,
      account: request.account ?? undefined,
      nextUri: request.nextUri ?? undefined,
      userDisplay: request.userDisplay ?? undefined,
      lang: request.lang ?? undefined,
    }),
  })
  const ids =
    acquired.outcome === 'connected'
      ? acquired.connections.map((connection) => connection.id)
      : [acquired.authorization.id]
  if (ids.length === 0) throw new BrokerError('invalid_request', 'Nothing was asked for.')
  const session: ConnectSession = {
    id,
    projectId,
    userId,
    tokenHash: sha256(token),
    authorizationId: ids.join(' '),
    origin,
    restarts: 0,
    createdAt: now(),
    expiresAt: now() + CONNECT_SESSION_SECONDS,
  }
  await store.connectSessions.add(session, sessionAudit(broker, session, 'created'))
  if (acquired.outcome === 'connected') return { session, token }
  return { session, token, authorization: acquired.authorization }
}

async function neededBy(
  broker: Broker,
  request: SessionRequest,
): Promise<{ readonly providers: readonly ProviderNeed[]; readonly requester?: string }> {
  const { projectId, userId, providerId, tool: toolName, connectionId } = request
  const scopes = request.scopes ?? []
  const named = NEED_MEMBERS.filter((_, at) => [providerId, toolName, connectionId][at] != null)
  if (named.length !== 1)
    throw invalidMember(
      named[0] === undefined ? 'provider_id' : (named[1] ?? ''),
      named.length === 0 ? 'missing' : 'conflict',
      `Name what is to be connected by one of ${NEED_MEMBERS.join(', ')}${named.length > 1 ? `; ${named.join(' and ')} are given` : ''}.`,
    )
  for (const member of ['account', 'variables'] as const)
    if (request[member] != null && connectionId != null)
      throw invalidMember(
        member,
        'conflict',
        `connection_id already determines ${member}: leave ${member} out.`,
      )
  if (connectionId != null)
    return { providers: [await needToReconnect(broker, { projectId, userId, connectionId }, scopes)] }
  if (toolName == null) {
    const entry = await getActiveProvider(broker, projectId, { providerId: providerId ?? '' })
    return { providers: [{ entry, scopes, ...givenFor(entry, request.variables, 'variables') }] }
  }
  for (const member of ['scopes', 'variables'] as const)
    if (request[member] != null)
      throw invalidMember(
        member,
        'conflict',
        `${member} cannot be given with tool, which determines what it needs.`,
      )
  const tool = await getTool(broker, projectId, toolName)
  actForTool(toolId(tool))
  const providers = await toolNeeds(broker, tool, { userId })
  if (providers.length === 0)
    throw invalidMember(
      'tool',
      'invalid',
      `The tool "${tool.title}" needs no provider: there is nothing to connect.`,
    )
  return { providers, requester: tool.title }
}

/** Throws `invalid_request` for a text that is not an origin as browsers send it. */
function checkedOrigin(broker: Broker, text: string): string {
  const url = URL.parse(text)
  if (url === null || url.origin !== text || !isConfidential(url, broker.settings.development))
    throw invalidMember(
      'allowed_origin',
      'invalid',
      `allowed_origin must be the origin of the page, as \`location.origin\` has it: https (http for localhost alone), without a path${url !== null && url.origin !== 'null' && url.origin !== text ? `. Write "${url.origin}"` : ''}.`,
    )
  return text
}

/** The need for a new consent to this connection of the user, with further scopes if any are named. Throws `not_found`. */
async function needToReconnect(
  broker: Broker,
  { projectId, userId, connectionId }: { projectId: string; userId: string; connectionId: string },
  scopes: readonly string[],
): Promise<ProviderNeed> {
  const connection = await broker.store.connections.find(connectionId)
  const isOwn = connection?.projectId === projectId && connection.userId === userId && mayActFor(userId)
  const entry = isOwn ? await findProviderByUid(broker, projectId, connection.providerUid) : undefined
  if (connection === undefined || entry === undefined)
    throw new BrokerError(
      'not_found',
      `The user has no connection "${connectionId.slice(0, 80)}". GET /v1/connections?user_id=… lists those of a user.`,
    )
  return {
    entry: requireActive(entry),
    scopes: [...new Set([...connection.scopes, ...scopes])],
    account: connectionId,
    isAskedAnyway: true,
  }
}
