import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { FAILURE_REASONS } from '../../domain/authorization.ts'
import { toTimestamp } from '../../domain/clock.ts'
import { isConfidential } from '../../domain/confidential-url.ts'
import { invalidMember } from '../../domain/errors.ts'
import { toolId } from '../../domain/tool.ts'
import { connectUrl, type ProviderNeed } from '../../flows/acquire-tokens.ts'
import { beginConnectSession, needToReconnect } from '../../flows/begin-connect-session.ts'
import { connectionsOf, firstIdOf } from '../../flows/connect-session.ts'
import { getActiveProvider } from '../../flows/get-provider.ts'
import { actForTool } from '../../services/request-context.ts'
import { getTool } from '../../tools/catalogue/get-tool.ts'
import { toolNeeds } from '../../tools/run/tool-tokens.ts'
import { defineOperation } from '../operation.ts'
import { idText, pageMembers, scopeText, toolNameText, userIdText } from '../schemas/fields.ts'
import { givenFor, variablesSchema } from './given-values.ts'

const connectionSchema = z.object({ id: z.string(), provider_id: z.string() })

export const connectSessionSchema = {
  id: z.string(),
  auth_id: z.string().meta({
    description:
      'The latest authorization of the session. If existing connections covered the need, none was begun: then this is the id of the (first) connection',
  }),
  status: z.enum(['pending', 'completed', 'failed']),
  reason: z.enum(FAILURE_REASONS).openapi('FailureReason').optional(),
  message: z.string().optional(),
  connection: connectionSchema.optional().meta({ description: 'When completed' }),
  connections: z.array(connectionSchema).optional().meta({
    description:
      'When completed, if there are several: all that the user approved, or all existing ones that covered the need',
  }),
  expires_at: z.string().meta({
    description:
      'When the token expires: at this time, or 60 seconds after the end of the authorization, if that is earlier.',
  }),
}

const begunSchema = z
  .object({
    ...connectSessionSchema,
    session_token: z
      .string()
      .meta({ description: 'The token with which the page opens the session. No other answer has it.' }),
    url: z.string().optional().meta({
      description:
        'The connect page. It works only in the browser that has opened the session with its token',
    }),
  })
  .openapi('BegunConnectSession')

const createSchema = z
  .object({
    user_id: userIdText.meta({ description: 'The user who is logged in at the page' }),
    provider_id: idText
      .nullish()
      .meta({ description: 'A provider entry, or a well-known kind such as `github`' }),
    scopes: z.array(scopeText).max(200).nullish(),
    account: userIdText.nullish().meta({
      description:
        "Which of the user's accounts: a connection's id, an account's id or name, or `new` for one more",
    }),
    variables: variablesSchema.nullish(),
    tool: toolNameText
      .nullish()
      .meta({ description: 'In place of `provider_id`: connects what this tool needs' }),
    connection_id: idText.nullish().meta({
      description: 'In place of `provider_id`: connects this connection again, with `scopes` added',
    }),
    allowed_origin: z.string().max(300).meta({
      description: 'The origin of the page, such as `https://app.example`',
      example: 'https://app.example',
    }),
    next_uri: z
      .string()
      .max(2000)
      .nullish()
      .meta({ description: 'Where the browser goes at the end if the page’s own tab had to be used' }),
    ...pageMembers,
  })
  .openapi('ConnectSessionRequest')

const NEED_MEMBERS = ['provider_id', 'tool', 'connection_id'] as const

export const createConnectSession = defineOperation({
  id: 'createConnectSession',
  method: 'post',
  path: '/v1/connect_sessions',
  role: 'caller',
  keysOfUsers: 'user_id',
  tag: 'Connect sessions',
  summary: 'Let a page connect one user',
  description:
    'Call it on your server for the user of your own session, and give the answer to the page: its `session_token` opens, reads, cancels and restarts one authorization, from pages of `allowed_origin`, for 15 minutes. Name one of `provider_id`, `tool` and `connection_id`.',
  body: createSchema,
  status: 201,
  answer: 'The session, with its token',
  output: begunSchema,
  async run(broker, { body, caller }) {
    const { projectId } = caller
    const { user_id: userId, account, next_uri: nextUri, user_display: userDisplay, lang } = body
    const { providers, requester } = await neededBy(broker, body, projectId)
    const { session, token, authorization } = await beginConnectSession(
      broker,
      {
        projectId,
        userId,
        providers,
        ...(requester !== undefined && { requester }),
        ...(account != null && { account }),
        ...(nextUri != null && { nextUri }),
        ...(userDisplay != null && { userDisplay }),
        ...(lang != null && { lang }),
      },
      checkedOrigin(broker, body.allowed_origin),
    )
    const connections = authorization === undefined ? await connectionsOf(broker, { session }) : []
    return {
      id: session.id,
      session_token: token,
      auth_id: firstIdOf(session),
      status: authorization === undefined ? ('completed' as const) : ('pending' as const),
      ...(authorization !== undefined && { url: connectUrl(broker, authorization) }),
      ...connectionsToWire(connections),
      expires_at: toTimestamp(session.expiresAt),
    }
  },
})

async function neededBy(
  broker: Broker,
  body: z.output<typeof createSchema>,
  projectId: string,
): Promise<{ readonly providers: readonly ProviderNeed[]; readonly requester?: string }> {
  const { user_id: userId, provider_id: providerId, tool: toolName, connection_id: connectionId } = body
  const scopes = body.scopes ?? []
  const named = NEED_MEMBERS.filter((member) => body[member] != null)
  if (named.length !== 1)
    throw invalidMember(
      named[0] === undefined ? 'provider_id' : (named[1] ?? ''),
      named.length === 0 ? 'missing' : 'conflict',
      `Name what is to be connected by one of ${NEED_MEMBERS.join(', ')}${named.length > 1 ? `; ${named.join(' and ')} are given` : ''}.`,
    )
  for (const member of ['account', 'variables'] as const)
    if (body[member] != null && connectionId != null)
      throw invalidMember(
        member,
        'conflict',
        `connection_id already determines ${member}: leave ${member} out.`,
      )
  if (connectionId != null)
    return { providers: [await needToReconnect(broker, { projectId, userId, connectionId }, scopes)] }
  if (toolName == null) {
    const entry = await getActiveProvider(broker, projectId, { providerId: providerId ?? '' })
    return { providers: [{ entry, scopes, ...givenFor(entry, body.variables, 'variables') }] }
  }
  for (const member of ['scopes', 'variables'] as const)
    if (body[member] != null)
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

/** The first as `connection`, and if there are several, all as `connections`. */
export function connectionsToWire(found: Awaited<ReturnType<typeof connectionsOf>>) {
  const connections = found.map(({ id, providerId }) => ({ id, provider_id: providerId }))
  const [connection] = connections
  return {
    ...(connection !== undefined && { connection }),
    ...(connections.length > 1 && { connections }),
  }
}
