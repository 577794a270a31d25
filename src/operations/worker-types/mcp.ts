import { z } from '@hono/zod-openapi'
import { mcpSettings, readableMcpSecrets } from '../../tools/mcp/settings.ts'
import { changedLimits, defineWorkerType, keptSecret, limits, toKeptSecret, workerUri } from './define.ts'
import {
  brokerSecret,
  changedSecrets,
  changedSettings,
  mcpOAuth2,
  mcpRequirements,
  mcpSettingsShape,
  requirementsToWire,
  secretName,
  secretValue,
  toSecret,
} from './mcp-settings.ts'

const nullish = <Shape extends Record<string, z.ZodType>>(shape: Shape) =>
  Object.fromEntries(Object.entries(shape).map(([name, member]) => [name, member.nullish()])) as {
    [Name in keyof Shape]: z.ZodOptional<z.ZodNullable<Shape[Name]>> // what `nullish` makes of each
  }

const secretsMeta = { description: 'Values for `headers`, by name', writeOnly: true }

const settings = z.object({
  uri: workerUri,
  secret: brokerSecret.nullish(),
  ...limits.create,
  secrets: z.record(secretName, secretValue).nullish().meta(secretsMeta),
  oauth2: mcpOAuth2.nullish(),
  ...nullish(mcpSettingsShape),
})

/** Remote MCP servers over Streamable HTTP. In a change `null` removes a setting. */
export const mcpWorker = defineWorkerType({
  type: 'mcp',
  create: settings,
  change: settings.extend({
    uri: workerUri.optional(),
    ...limits.change,
    secrets: z.record(secretName, secretValue.nullable()).nullish().meta(secretsMeta),
  }),
  answer: z.object({
    uri: z.string(),
    ...limits.answer,
    secret: keptSecret.optional(),
    headers: z.record(z.string(), z.string()).optional(),
    secrets: z.record(z.string(), keptSecret).optional(),
    namespace: z.string().optional(),
    token_meta: z.string().optional(),
    providers: z.array(z.string()).optional(),
    requirements: mcpRequirements.optional(),
    external_id: z.string().optional(),
    redirect_uri: z.string().optional(),
    oauth2: z
      .object({
        client_id: z.string().optional(),
        client_secret: keptSecret,
        authorization_url: z.string().optional(),
        external_id: z.string().optional(),
        scopes: z.array(z.string()).optional(),
        redirect_uri: z.string().optional().meta({ description: 'To register at the authorization server' }),
        supported_scopes: z.array(z.string()).optional(),
      })
      .optional(),
    authorization: z
      .object({ user_id: z.string().optional(), scopes: z.array(z.string()) })
      .optional()
      .meta({ description: 'If the server requires OAuth: the user whose connection lists its tools' }),
  }),
  toSettings: (_, { uri, secret, timeout, retry, secrets, oauth2, ...sent }) => ({
    uri,
    timeoutSeconds: timeout,
    retry,
    secret: toSecret({
      ...(secret && { brokerSecret: secret }),
      ...(secrets && { secrets }),
      ...(oauth2?.client_secret && { clientSecret: oauth2.client_secret }),
    }),
    settings: { ...changedSettings({}, sent, oauth2) },
  }),
  toChange(broker, { uri, secret, timeout, retry, secrets, oauth2, ...sent }, worker) {
    const kept = readableMcpSecrets(broker, worker)
    const { authorization, ...before } = mcpSettings(worker)
    const isMoved = uri !== undefined && uri !== worker.uri
    return {
      ...(uri !== undefined && { uri }),
      ...changedLimits({ timeout, retry }),
      ...((secrets !== undefined || oauth2 !== undefined || secret !== undefined) && {
        secret: toSecret(changedSecrets(kept, secrets, oauth2, secret)),
      }),
      settings: {
        ...changedSettings(before, sent, oauth2),
        // a server at another address, or one whose client is removed, may need another authorization
        ...(!isMoved && oauth2 !== null && authorization && { authorization }),
      },
    }
  },
  toWire(broker, worker) {
    const { uri, timeoutSeconds, retry } = worker
    const { headers, namespace, tokenMeta, providers, requirements, oauth2, authorization } =
      mcpSettings(worker)
    const { secrets, clientSecret, brokerSecret } = readableMcpSecrets(broker, worker)
    const redirectUri =
      authorization && broker.redirectUri({ uid: authorization.providerUid, projectId: worker.projectId })
    const { clientId, authorizationUrl, externalId, scopes } = oauth2 ?? {}
    return {
      uri,
      timeout: timeoutSeconds,
      retry,
      ...(brokerSecret !== undefined && { secret: toKeptSecret(true) }),
      ...(headers && { headers }),
      ...(secrets && {
        secrets: Object.fromEntries(Object.keys(secrets).map((name) => [name, toKeptSecret(true)])),
      }),
      namespace,
      token_meta: tokenMeta,
      ...(providers && { providers }),
      requirements: requirements && requirementsToWire(requirements),
      external_id: externalId,
      redirect_uri: redirectUri,
      ...((oauth2 ?? authorization) && {
        oauth2: {
          client_id: clientId,
          client_secret: toKeptSecret(clientSecret !== undefined),
          authorization_url: authorizationUrl,
          external_id: externalId,
          ...(scopes && { scopes: [...scopes] }),
          redirect_uri: redirectUri,
          ...(authorization && { supported_scopes: authorization.scopes }),
        },
      }),
      ...(authorization && {
        authorization: {
          user_id: authorization.userId,
          scopes: authorization.scopes,
        },
      }),
    }
  },
  isAuthorized(worker) {
    const { authorization } = mcpSettings(worker)
    return authorization && authorization.userId !== undefined
  },
})
