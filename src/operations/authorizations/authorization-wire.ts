import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { type Authorization, currentStep, FAILURE_REASONS, scopesOf } from '../../domain/authorization.ts'
import { toTimestamp } from '../../domain/clock.ts'
import { BrokerError } from '../../domain/errors.ts'
import { unionOfScopes } from '../../domain/scopes.ts'
import { connectUrl, type TokenAcquisition } from '../../flows/acquire-tokens.ts'
import { causeOfAuthorization } from '../../flows/causes/explain-authorization.ts'
import { causeOfStored } from '../../flows/causes/explain-connection.ts'
import { authorizationTokens, findConnectionToken } from '../../flows/connection-token.ts'
import { getConnection } from '../../flows/get-connection.ts'
import { findProviderByUid } from '../../flows/get-provider.ts'
import { isProxyOnly } from '../../providers/provider-grant.ts'
import { withoutUndefined } from '../../sdk/without-undefined.ts'
import { APPROVAL_FAILURES, type ApprovalView } from '../../services/call-approvals.ts'
import { type Release, shownConnection } from '../../services/release.ts'
import { causeSchema, causeToWire } from '../schemas/cause-schema.ts'
import { jsonObject } from '../schemas/json-schemas.ts'

/** Arcade's AuthorizationResponse, with the reason of a failure. */
export const authorizationSchema = z
  .object({
    id: z.string(),
    status: z.enum(['not_started', 'pending', 'completed', 'failed']),
    url: z.string().optional().meta({ description: 'The link for the user, while pending' }),
    user_id: z.string(),
    provider_id: z.string(),
    scopes: z
      .array(z.string())
      .meta({ description: 'The requested scopes while pending, the granted ones when completed' }),
    context: z.object({
      token: z.string().optional(),
      token_type: z.string().optional(),
      expires_at: z
        .string()
        .optional()
        .meta({ description: 'When the token expires, if the provider says so' }),
      user_info: jsonObject.optional(),
      previous_account: z
        .object({ id: z.string(), name: z.string(), connection_id: z.string() })
        .optional()
        .meta({
          description:
            'The account that was used before, if the user approved with another one. It stays connected.',
        }),
    }),
    missing_scopes: z
      .array(z.string())
      .optional()
      .meta({ description: 'Scopes that were requested and not granted, when completed' }),
    expires_at: z.string().optional(),
    reason: z
      .enum([...FAILURE_REASONS, ...APPROVAL_FAILURES])
      .openapi('FailureReason')
      .optional(),
    message: z.string().optional(),
    cause: causeSchema
      .optional()
      .meta({ description: 'Why it failed, with what to change; `explain` has each step' }),
  })
  .openapi('Authorization')

export type AuthorizationWire = z.infer<typeof authorizationSchema>

/** `acquisitionToWire` as JSON text. The text of a single token is cached with its connection. */
export function acquisitionToJson(broker: Broker, acquired: TokenAcquisition): string | Promise<string> {
  const [token, ...others] = acquired.outcome === 'ready' ? acquired.tokens : []
  if (token === undefined || others.length > 0)
    return acquisitionToWire(broker, acquired).then((wire) => JSON.stringify(wire))
  const { release } = token
  release.texts.answer ??= JSON.stringify(released(shownConnection(release), [release]))
  return release.texts.answer
}

/**
 * The pending authorization, or the tokens in the form of a completed one, whose id is that of the first token's
 * connection.
 */
export async function acquisitionToWire(
  broker: Broker,
  acquired: TokenAcquisition,
): Promise<AuthorizationWire> {
  if (acquired.outcome === 'authorization_required') return toWire(broker, acquired.authorization)
  const releases = acquired.tokens.map(({ release }) => release)
  const [first] = releases
  if (first === undefined) throw new BrokerError('invalid_request', 'Nothing was asked for.')
  return released(shownConnection(first), releases)
}

/** The authorization in its current state. A completed one carries its token, which is refreshed first when it has expired. */
export async function toWire(broker: Broker, authorization: Authorization): Promise<AuthorizationWire> {
  const { id, projectId, userId, status } = authorization
  if (status === 'completed') {
    const releases = await authorizationTokens(broker, authorization)
    if (releases.length > 0) return withConsent(released(id, releases), authorization)
  }
  const { providerUid } = currentStep(authorization)
  const entry = await findProviderByUid(broker, projectId, providerUid)
  const common = {
    id,
    user_id: userId,
    provider_id: entry?.id ?? providerUid,
    scopes: scopesOf(authorization),
    context: {},
  }
  switch (authorization.status) {
    case 'completed':
      return {
        ...common,
        status: 'completed',
        message: 'The connection is gone or needs a new consent. Begin a new authorization.',
      }
    case 'failed': {
      const { reason, message } = authorization
      const cause = await causeOfAuthorization(broker, authorization)
      return { ...common, status: 'failed', reason, message, cause: cause && causeToWire(cause) }
    }
    default:
      return {
        ...common,
        status: 'pending',
        url: connectUrl(broker, authorization),
        expires_at: toTimestamp(authorization.expiresAt),
      }
  }
}

/** An approval of a call, in the words of an authorization. */
export function approvalToWire({
  id,
  userId,
  status,
  url,
  expiresAt,
  reason,
  message,
}: ApprovalView): AuthorizationWire {
  return {
    id,
    status,
    user_id: userId,
    provider_id: '',
    scopes: [],
    context: {},
    ...(status === 'pending' && { url, expires_at: toTimestamp(expiresAt) }),
    ...withoutUndefined({ reason, message }),
  }
}

/** The answer for a tool that needs no authorization: completed, with the id of the tool. */
export function withoutAuthorization(toolUid: string, userId = ''): AuthorizationWire {
  return { id: toolUid, status: 'completed', user_id: userId, provider_id: '', scopes: [], context: {} }
}

/**
 * An authorization that was completed at once is not stored: its id is that of the connection that covered it, or of the
 * tool that needs none. Returns the answer for such an id, and `undefined` for other ids. Throws `not_found` when the
 * connection has been deleted.
 */
export async function findCompletedAtOnce(
  broker: Broker,
  projectId: string,
  id: string,
): Promise<AuthorizationWire | undefined> {
  if (id.startsWith('conn_')) return connectionAsAuthorization(broker, projectId, id)
  const tools = id.startsWith('tool_') ? await broker.cache.catalogue.of(projectId) : []
  return tools.some(({ uid }) => uid === id) ? withoutAuthorization(id) : undefined
}

async function connectionAsAuthorization(
  broker: Broker,
  projectId: string,
  id: string,
): Promise<AuthorizationWire> {
  const connection = await getConnection(broker, projectId, id)
  const release = await findConnectionToken(broker, connection)
  if (release !== undefined) return released(id, [release])
  const entry = await findProviderByUid(broker, projectId, connection.providerUid)
  const cause = await causeOfStored(broker, id)
  return {
    id,
    status: 'failed',
    user_id: connection.userId,
    provider_id: entry?.id ?? connection.providerUid,
    scopes: [...connection.scopes],
    context: {},
    reason: connection.statusReason === 'provider_changed' ? 'provider_changed' : 'invalid_grant',
    message: 'The user must approve again. Begin a new authorization.',
    cause: cause && causeToWire(cause),
  }
}

/** The answer with what the consent withheld or changed. */
function withConsent(wire: AuthorizationWire, { steps }: Authorization): AuthorizationWire {
  const missing = unionOfScopes(...steps.map((step) => step.missingScopes ?? []))
  const before = steps.find((step) => step.previousAccount !== undefined)?.previousAccount
  return {
    ...wire,
    context: {
      ...wire.context,
      ...(before && {
        previous_account: { id: before.id, name: before.name, connection_id: before.connectionId },
      }),
    },
    ...(missing.length > 0 && { missing_scopes: missing }),
  }
}

function released(id: string, releases: readonly Release[]): AuthorizationWire {
  const [{ connection, entry, accessToken, userInfo }] = releases as readonly [Release, ...Release[]] // callers check
  return {
    id,
    status: 'completed',
    user_id: connection.userId,
    provider_id: entry.id,
    scopes:
      releases.length === 1
        ? [...connection.scopes]
        : unionOfScopes(...releases.map((release) => release.connection.scopes)),
    context: {
      ...(!isProxyOnly(entry.provider) && { token: accessToken }),
      token_type: connection.tokenType,
      expires_at: toTimestamp(connection.expiresAt),
      user_info: userInfo,
    },
  }
}
