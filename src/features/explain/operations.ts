import { z } from '@hono/zod-openapi'
import { toTimestamp } from '../../domain/clock.ts'
import { TRAIL_STEPS, type TrailDetails } from '../../domain/trail.ts'
import { getAuthorization } from '../../flows/await-authorization.ts'
import { explainAuthorization as explain } from '../../flows/causes/explain-authorization.ts'
import {
  connectionToExplain,
  explainConnection as explainOne,
} from '../../flows/causes/explain-connection.ts'
import type { Explanation } from '../../flows/causes/explanation.ts'
import { defineOperation } from '../../operations/operation.ts'
import { causeSchema, causeToWire } from '../../operations/schemas/cause-schema.ts'
import { idText } from '../../operations/schemas/fields.ts'

const detailsSchema = z
  .object({
    endpoint: z.string().meta({ description: 'Origin and path of the request' }),
    method: z.string(),
    authentication: z.string().meta({ description: 'How the client authenticated' }),
    parameters: z.array(z.string()).meta({ description: 'Names of parameters, never their values' }),
    scopes: z.array(z.string()),
    missing_scopes: z.array(z.string()).meta({ description: 'Requested and not granted' }),
    redirect_uri: z.string(),
    code_challenge_method: z.string(),
    status: z.number().int().meta({ description: 'The HTTP status of the answer' }),
    failure: z.string().meta({ description: 'Why there was no answer, such as `timeout`' }),
    took_ms: z.number().int(),
    received: z.array(z.string()).meta({
      description:
        "The names of the answer's members, with the form of a value where it matters, such as `scope: commas`",
    }),
    error: z.string().meta({ description: "The provider's error code" }),
    description: z.string().meta({ description: "The provider's own words, cleaned" }),
    reason: z.string().meta({ description: 'Gatepass’ own code for the reason' }),
    message: z.string(),
    claim: z.string().meta({ description: 'The claim of an ID token that was refused' }),
    clock_difference_seconds: z.number().int().meta({
      description:
        "How far the clock of Gatepass is ahead of the provider's, if they differ by a minute or more. Negative: behind",
    }),
    connection_id: z.string(),
    account: z.string(),
    previous_account: z
      .string()
      .meta({ description: 'The account that was connected before, when another one approved' }),
    by: z.string(),
    times: z.number().int().meta({ description: 'How often this step failed in a row in the same way' }),
    first_at: z.string().meta({ description: 'When this step first failed in this way' }),
    unanswered: z
      .number()
      .int()
      .meta({ description: 'Requests with the same refresh token whose answers were lost' }),
  })
  .partial()

const stepSchema = z
  .object({
    at: z.string(),
    step: z.enum(TRAIL_STEPS),
    provider_id: z.string().optional(),
    attempt: z.number().int().optional().meta({
      description: 'The number of the attempt, from 1. Each click on the connect page begins another attempt',
    }),
    details: detailsSchema,
  })
  .openapi('ExplainedStep')

const explanationSchema = z
  .object({
    id: z.string(),
    kind: z.enum(['authorization', 'connection']),
    user_id: z.string(),
    status: z.enum(['pending', 'completed', 'failed', 'active', 'needs_authorization']),
    reason: z.string().optional(),
    message: z.string().optional(),
    requester: z.string().optional().meta({ description: 'The tool or application that asked' }),
    created_at: z.string(),
    expires_at: z.string().optional(),
    ended_at: z.string().optional(),
    providers: z.array(
      z.object({
        provider_id: z.string(),
        name: z.string(),
        redirect_uri: z.string().optional().meta({ description: 'To be registered at the provider' }),
        scopes: z
          .array(z.string())
          .meta({ description: 'The requested scopes; for a connection, the granted ones' }),
        missing_scopes: z.array(z.string()).optional(),
        connection_id: z.string().optional(),
      }),
    ),
    steps: z.array(stepSchema).meta({ description: 'In the order of time' }),
    earlier_steps_dropped: z
      .literal(true)
      .optional()
      .meta({ description: 'There were more steps than are kept' }),
    cause: causeSchema.optional().meta({ description: 'Absent: nothing is known to be wrong' }),
  })
  .openapi('Explanation')

const params = z.object({ id: idText })
const DESCRIPTION =
  'Steps show the names of parameters, the origin and path of requests, and what the provider said, cleaned: never a secret, code, token or state. `cause` is the likely cause, with what to change and who can change it.'

export const explainAuthorization = defineOperation({
  id: 'explainAuthorization',
  method: 'get',
  path: '/v1/auth/{id}/explain',
  role: 'readonly',
  keysOfUsers: 'own',
  tag: 'Authorization',
  summary: 'Each step of an authorization, and why it failed or does not go on',
  description: `${DESCRIPTION} With the id of a connection, the answer is that for the connection. The steps are kept as the authorization: until a week after its end.`,
  params,
  answer: 'The steps and the cause',
  output: explanationSchema,
  run: async (broker, { params: { id }, caller: { projectId } }) =>
    toWire(
      /^(?:conn|shared)_/.test(id)
        ? await explainOne(broker, await connectionToExplain(broker, projectId, id))
        : await explain(broker, await getAuthorization(broker, projectId, id)),
    ),
})

export const explainConnection = defineOperation({
  id: 'explainConnection',
  method: 'get',
  path: '/v1/connections/{id}/explain',
  role: 'readonly',
  keysOfUsers: 'own',
  tag: 'Connections',
  summary: 'Why a connection does not work',
  description: `Its consent, its failed refreshes since the last good one, and why it needs a new consent. The id of a connection of the project (shared_…) is taken too: then it is its token that works least. ${DESCRIPTION}`,
  params,
  answer: 'The steps and the cause',
  output: explanationSchema,
  run: async (broker, { params: { id }, caller }) =>
    toWire(await explainOne(broker, await connectionToExplain(broker, caller.projectId, id))),
})

function toWire(explained: Explanation): z.infer<typeof explanationSchema> {
  const { id, kind, userId, status, reason, message, requester, createdAt, expiresAt, endedAt } = explained
  return {
    id,
    kind,
    user_id: userId,
    status,
    reason,
    message,
    requester,
    created_at: toTimestamp(createdAt),
    expires_at: toTimestamp(expiresAt),
    ended_at: toTimestamp(endedAt),
    providers: explained.providers.map((provider) => ({
      provider_id: provider.providerId,
      name: provider.name,
      redirect_uri: provider.redirectUri,
      scopes: [...provider.scopes],
      missing_scopes: provider.missingScopes && [...provider.missingScopes],
      connection_id: provider.connectionId,
    })),
    steps: explained.steps.map(({ at, step, providerId, attempt, details }) => ({
      at: toTimestamp(at),
      step,
      provider_id: providerId,
      attempt,
      details: detailsToWire(details),
    })),
    ...(explained.isCut && { earlier_steps_dropped: true }),
    cause: explained.cause && causeToWire(explained.cause),
  }
}

/** The stored members are those of the wire; only the time is written differently. */
function detailsToWire({ first_at, parameters, scopes, missing_scopes, received, ...rest }: TrailDetails) {
  return {
    ...rest,
    parameters: parameters && [...parameters],
    scopes: scopes && [...scopes],
    missing_scopes: missing_scopes && [...missing_scopes],
    received: received && [...received],
    ...(first_at !== undefined && { first_at: toTimestamp(first_at) }),
  }
}
