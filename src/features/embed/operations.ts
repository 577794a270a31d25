import { z } from '@hono/zod-openapi'
import { toTimestamp } from '../../domain/clock.ts'
import { connectUrl } from '../../flows/acquire-tokens.ts'
import { defineOperation } from '../../operations/operation.ts'
import {
  idText,
  pageMembers,
  scopeText,
  toolNameText,
  userIdText,
  variablesSchema,
} from '../../operations/schemas/fields.ts'
import { beginConnectSession } from './begin-connect-session.ts'
import { connectionsOf, firstIdOf } from './connect-session.ts'
import { connectionsToWire, connectSessionSchema } from './wire.ts'

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
    const { session, token, authorization } = await beginConnectSession(broker, {
      projectId: caller.projectId,
      userId: body.user_id,
      providerId: body.provider_id,
      tool: body.tool,
      connectionId: body.connection_id,
      scopes: body.scopes,
      account: body.account,
      variables: body.variables,
      allowedOrigin: body.allowed_origin,
      nextUri: body.next_uri,
      userDisplay: body.user_display,
      lang: body.lang,
    })
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
