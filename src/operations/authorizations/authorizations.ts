import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import type { ApiKey } from '../../domain/api-key.ts'
import { acquireTokens } from '../../flows/acquire-tokens.ts'
import { awaitAuthorization, getAuthorization } from '../../flows/await-authorization.ts'
import { installedNeed } from '../../flows/begin-installation.ts'
import { confirmUser as confirm } from '../../flows/confirm-user.ts'
import { getActiveProvider } from '../../flows/get-provider.ts'
import { givenFor } from '../../flows/given-values.ts'
import { isApprovalId } from '../../services/call-approvals.ts'
import type { WaitOptions } from '../../services/waiters.ts'
import { EventStream, JsonText } from '../answer.ts'
import { refuseFailed } from '../dialects/arcade.ts'
import { defineOperation } from '../operation.ts'
import { errorSchema } from '../schemas/error-schema.ts'
import {
  idText,
  MAX_NEXT_URI,
  MAX_SCOPES,
  pageMembers,
  scopeText,
  userIdText,
  variablesSchema,
  wholeNumber,
} from '../schemas/fields.ts'
import {
  type AuthorizationWire,
  acquisitionToJson,
  approvalToWire,
  authorizationSchema,
  findCompletedAtOnce,
  toWire,
} from './authorization-wire.ts'
import { approvalStream, statusStream } from './status-stream.ts'

export const authorizeSchema = z
  .object({
    auth_requirement: z
      .object({
        provider_id: idText
          .nullish()
          .meta({ description: 'A provider entry, or a well-known kind such as `github`' }),
        id: idText.nullish().meta({ description: 'A provider entry by its own id' }),
        provider_type: z.literal('oauth2').nullish(),
        oauth2: z
          .object({ scopes: z.array(scopeText).max(MAX_SCOPES).nullish() })
          .nullish()
          .meta({
            description:
              'Without scopes any grant suffices, and the provider entry determines which scopes are requested',
          }),
        variables: variablesSchema.nullish().meta({
          description:
            'Values for the variables that the provider entry asks users for, such as a subdomain: the connect page then shows them and does not ask. They do not choose among connections; `account` does.',
          example: { subdomain: 'acme' },
        }),
      })
      .refine((need) => need.id != null || need.provider_id != null, 'needs `provider_id` or `id`'),
    user_id: userIdText,
    next_uri: z
      .string()
      .max(MAX_NEXT_URI)
      .nullish()
      .meta({ description: 'Where the browser goes at the end' }),
    ...pageMembers,
    install_id: z.string().min(1).max(4000).nullish().meta({
      description:
        'Beyond Arcade: what the page of `oauth2.installation.install_uri` was given for a user who began at the provider',
    }),
    account: userIdText.nullish().meta({
      description:
        "Which of the user's accounts: a connection's id, an account's id or name, or `new` for one more",
    }),
  })
  .openapi('AuthorizeRequest')

const confirmSchema = z.object({ flow_id: idText, user_id: userIdText })

const LONGEST_WAIT_SECONDS = 59

export const authorize = defineOperation({
  id: 'authorize',
  method: 'post',
  path: '/v1/auth/authorize',
  role: 'caller',
  keysOfUsers: 'user_id',
  tag: 'Authorization',
  summary: 'Begin an authorization, or get the token when it is covered',
  description:
    'Answers `completed` with the token when a connection already covers the scopes, else `pending` with the `url` the user opens. The same user, provider and scopes share one live authorization.',
  body: authorizeSchema,
  answer: 'The status of the authorization',
  output: authorizationSchema,
  run: async (broker, { body, caller }) => new JsonText(await authorizeUser(broker, caller, body)),
})

/** The answer of `authorize`, as JSON. */
export async function authorizeUser(
  broker: Broker,
  caller: ApiKey,
  body: z.output<typeof authorizeSchema>,
): Promise<string> {
  const {
    auth_requirement: need,
    user_id: userId,
    next_uri: nextUri,
    account,
    user_display: userDisplay,
    lang,
    install_id: installId,
  } = body
  const found = getActiveProvider(broker, caller.projectId, {
    ...(need.id != null && { id: need.id }),
    ...(need.provider_id != null && { providerId: need.provider_id }),
  })
  const entry = found instanceof Promise ? await found : found
  const scopes = need.oauth2?.scopes ?? []
  const acquired = await acquireTokens(broker, {
    projectId: caller.projectId,
    userId,
    providers: [
      {
        entry,
        scopes,
        ...installedNeed(broker, entry, installId),
        ...givenFor(entry, need.variables, 'auth_requirement.variables'),
      },
    ],
    ...(nextUri != null && { nextUri }),
    ...(account != null && { account }),
    ...(userDisplay != null && { userDisplay }),
    ...(lang != null && { lang }),
  })
  return acquisitionToJson(broker, acquired)
}

export const getAuthorizationStatus = defineOperation({
  id: 'getAuthorizationStatus',
  method: 'get',
  path: '/v1/auth/status',
  role: 'caller',
  keysOfUsers: 'own',
  tag: 'Authorization',
  summary: 'The status of an authorization',
  description:
    '`wait` delays the answer until the authorization settles, for at most that many seconds; then the answer is 200 with the current status. If too many requests wait already (GATEPASS_MAX_WAITERS), the answer is not delayed.',
  query: z.object({
    id: idText,
    wait: wholeNumber({ min: 0, max: LONGEST_WAIT_SECONDS }).default(0),
  }),
  answer: 'The status of the authorization',
  output: authorizationSchema,
  async run(broker, { query: { id, wait }, caller, request }) {
    const waiting = { waitSeconds: wait, owner: caller.id, signal: request.signal }
    const wire =
      (await findApproval(broker, caller.projectId, id, waiting)) ??
      (await findCompletedAtOnce(broker, caller.projectId, id)) ??
      (await toWire(broker, await awaitAuthorization(broker, caller.projectId, id, waiting)))
    if (wait > 0 && request.isArcade) refuseFailed(wire)
    return wire
  },
})

export const streamAuthorizationStatus = defineOperation({
  id: 'streamAuthorizationStatus',
  method: 'get',
  path: '/v1/auth/{id}/events',
  role: 'caller',
  keysOfUsers: 'own',
  tag: 'Authorization',
  summary: 'The same status as server-sent events',
  description:
    'One `status` event now and one when the authorization settles, or an `error` event with a refusal; then the stream ends. If too many requests wait already (GATEPASS_MAX_WAITERS), it ends after the first event.',
  params: z.object({ id: idText }),
  answer: 'The data of each event is an Authorization, or an Error where the event is `error`',
  output: z.union([authorizationSchema, errorSchema]),
  mediaType: 'text/event-stream',
  async run(broker, { params: { id }, caller }) {
    if (isApprovalId(id)) return approvalStream(broker, { projectId: caller.projectId, id, owner: caller.id })
    const completed = await findCompletedAtOnce(broker, caller.projectId, id)
    if (completed !== undefined)
      return new EventStream((events) => events.event('status', JSON.stringify(completed)))
    return statusStream(broker, {
      first: await getAuthorization(broker, caller.projectId, id),
      toJson: async (authorization) => JSON.stringify(await toWire(broker, authorization)),
      owner: caller.id,
    })
  },
})

async function findApproval(
  { approvals }: Broker,
  projectId: string,
  id: string,
  options: WaitOptions & { readonly waitSeconds: number },
): Promise<AuthorizationWire | undefined> {
  if (!isApprovalId(id) || approvals === undefined) return undefined
  return approvalToWire(await approvals.wait(projectId, id, options))
}

export const confirmUser = defineOperation({
  id: 'confirmUser',
  method: 'post',
  path: '/v1/auth/confirm_user',
  role: 'caller',
  tag: 'Authorization',
  summary: 'Confirm the user who came back with a flow',
  description:
    'Gatepass sends the browser to your own page (GATEPASS_USER_VERIFIER) with `flow_id`. Call this from the server of that page with the user of its session, then redirect the browser to the `next_uri` of the answer. That is an address of Gatepass, which redeems the code in the browser that began the consent and then sends it to the `next_uri` of the authorization or to a page with the result. If the authorization is for another user, the answer is 400 `user_mismatch` and the authorization fails.',
  body: confirmSchema,
  answer: 'Send the browser to `next_uri`',
  output: z.object({ auth_id: z.string(), next_uri: z.string() }).openapi('ConfirmedUser'),
  async run(broker, { body, caller }) {
    const { authorizationId, nextUri } = await confirm(broker, {
      projectId: caller.projectId,
      flowId: body.flow_id,
      userId: body.user_id,
    })
    return { auth_id: authorizationId, next_uri: nextUri }
  },
})
