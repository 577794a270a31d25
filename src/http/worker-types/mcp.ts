import { z } from '@hono/zod-openapi'
import type { AuthorizationRequirement } from '../../domain/tool.ts'
import {
  type McpRequirements,
  type McpSecrets,
  type McpSettings,
  mcpSecrets,
  mcpSettings,
  namesSecret,
} from '../../tools/mcp/settings.ts'
import { idText, plainText } from '../limits.ts'
import {
  defineWorkerType,
  keptSecret,
  toKeptSecret,
  workerRetry,
  workerTimeout,
  workerUri,
} from './define.ts'

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/
/** What the protocol, HTTP or this broker sets. */
const OWN_HEADERS =
  /^(mcp-.*|host|connection|content-.*|accept|accept-encoding|transfer-encoding|te|upgrade|keep-alive|trailer|expect|last-event-id|proxy-.*)$/i
/** How a header names one. */
const AS_SECRET = `\${secret:NAME}`
const SECRET_HEADERS = /auth|cookie|key|token|secret|password|credential/i

const headers = z.record(z.string(), z.string().max(2000)).superRefine((said, ctx) => {
  const refuse = (name: string, message: string) => ctx.addIssue({ code: 'custom', path: [name], message })
  for (const [name, value] of Object.entries(said)) {
    if (!HEADER_NAME.test(name) || OWN_HEADERS.test(name)) refuse(name, 'is no header that can be set')
    else if (!/^[\x20-\x7e]*$/.test(value)) refuse(name, 'has characters that no header may have')
    else if (SECRET_HEADERS.test(name) && !namesSecret(value))
      refuse(name, `is a secret by its name: keep its value in mcp.secrets and write ${AS_SECRET} here`)
  }
})
const secretName = z.string().regex(/^[A-Za-z0-9_.-]{1,100}$/, 'letters, digits, _ . - only')
const secretValue = z.string().min(1).max(4000)

const requirement = z.object({
  authorization: z
    .array(
      z
        .object({
          id: idText.optional(),
          provider_id: idText.optional(),
          scopes: z.array(plainText(1000)).max(200).default([]),
        })
        .refine(
          (one) => one.id !== undefined || one.provider_id !== undefined,
          'needs `id` or `provider_id`',
        ),
    )
    .max(20)
    .optional(),
  secrets: z.array(secretName).max(50).optional(),
})
const requirements = requirement.extend({ tools: z.record(z.string().max(128), requirement).optional() })

const settings = {
  headers: headers.openapi({ description: `Sent with every request; ${AS_SECRET} stands for a secret` }),
  namespace: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,128}$/, 'letters, digits, _ . - only')
    .openapi({
      description: 'Of its tools, in place of the one that the server’s own name makes',
    }),
  token_meta: z
    .string()
    .regex(/^[A-Za-z0-9_./-]{1,100}$/, 'letters, digits, _ . / - only')
    .openapi({
      description:
        'The member of a call’s `_meta` that carries tokens and secrets; `arcade_context` unless said',
    }),
  providers: z.array(idText).max(100).openapi({
    description: 'The only providers whose tokens its tools may declare for themselves; any unless said',
  }),
  requirements: requirements.openapi({
    description:
      'What its tools need where they declare nothing; `tools` has the last word on those it names',
  }),
}
const oauth2 = z.object({
  client_id: plainText(1000).nullish(),
  client_secret: z.string().max(1000).nullish(),
  authorization_url: workerUri.nullish().openapi({
    description: 'The issuer to use, where the server names several authorization servers or none',
  }),
  external_id: plainText(50).nullish(),
})

const nullish = <Shape extends Record<string, z.ZodType>>(shape: Shape) =>
  Object.fromEntries(Object.entries(shape).map(([name, one]) => [name, one.nullish()])) as {
    [Name in keyof Shape]: z.ZodOptional<z.ZodNullable<Shape[Name]>> // what `nullish` makes of each
  }

/** Remote MCP servers over Streamable HTTP. In a change `null` takes a setting away. */
export const mcpWorker = defineWorkerType({
  type: 'mcp',
  create: z.object({
    uri: workerUri,
    timeout: workerTimeout.default(30),
    retry: workerRetry.default(3),
    secrets: z.record(secretName, secretValue).nullish(),
    oauth2: oauth2.nullish(),
    ...nullish(settings),
  }),
  change: z.object({
    uri: workerUri.optional(),
    timeout: workerTimeout.optional(),
    retry: workerRetry.optional(),
    secrets: z.record(secretName, secretValue.nullable()).nullish(),
    oauth2: oauth2.nullish(),
    ...nullish(settings),
  }),
  answer: z.object({
    uri: z.string(),
    timeout: z.number(),
    retry: z.number(),
    headers: z.record(z.string(), z.string()).optional(),
    secrets: z.record(z.string(), keptSecret).optional(),
    namespace: z.string().optional(),
    token_meta: z.string().optional(),
    providers: z.array(z.string()).optional(),
    requirements: requirements.optional(),
    external_id: z.string().optional(),
    redirect_uri: z.string().optional(),
    oauth2: z
      .object({
        client_id: z.string().optional(),
        client_secret: keptSecret,
        authorization_url: z.string().optional(),
        external_id: z.string().optional(),
        redirect_uri: z
          .string()
          .optional()
          .openapi({ description: 'To register at the authorization server' }),
        supported_scopes: z.array(z.string()).optional(),
      })
      .optional(),
    authorization: z
      .object({ user_id: z.string().optional(), scopes: z.array(z.string()) })
      .optional()
      .openapi({ description: 'The server wants OAuth: in whose name its tools are listed' }),
  }),
  toSettings: (_, { uri, timeout, retry, secrets, oauth2, ...said }) => ({
    uri,
    timeoutSeconds: timeout,
    retry,
    secret: toSecret({
      ...(secrets && { secrets }),
      ...(oauth2?.client_secret && { clientSecret: oauth2.client_secret }),
    }),
    settings: { ...changed({}, said, oauth2) },
  }),
  toChange(broker, { uri, timeout, retry, secrets, oauth2, ...said }, worker) {
    const kept = mcpSecrets(broker, worker)
    const { authorization, ...before } = mcpSettings(worker)
    const isMoved = uri !== undefined && uri !== worker.uri
    return {
      ...(uri !== undefined && { uri }),
      ...(timeout !== undefined && { timeoutSeconds: timeout }),
      ...(retry !== undefined && { retry }),
      ...((secrets !== undefined || oauth2 !== undefined) && {
        secret: toSecret(changedSecrets(kept, secrets, oauth2)),
      }),
      settings: {
        ...changed(before, said, oauth2),
        // what a server at another address wants is found out anew; so is what another client may have
        ...(!isMoved && oauth2 !== null && authorization && { authorization }),
      },
    }
  },
  toWire(broker, worker) {
    const { uri, timeoutSeconds, retry } = worker
    const { headers, namespace, tokenMeta, providers, requirements, oauth2, authorization } =
      mcpSettings(worker)
    const { secrets, clientSecret } = mcpSecrets(broker, worker)
    const redirectUri = authorization && broker.redirectUri({ uid: authorization.providerUid })
    const { clientId, authorizationUrl, externalId } = oauth2 ?? {}
    return {
      uri,
      timeout: timeoutSeconds,
      retry,
      ...(headers && { headers }),
      ...(secrets && {
        secrets: Object.fromEntries(Object.keys(secrets).map((name) => [name, toKeptSecret(true)])),
      }),
      ...(namespace !== undefined && { namespace }),
      ...(tokenMeta !== undefined && { token_meta: tokenMeta }),
      ...(providers && { providers }),
      ...(requirements && { requirements: requirementsToWire(requirements) }),
      ...(externalId !== undefined && { external_id: externalId }),
      ...(redirectUri !== undefined && { redirect_uri: redirectUri }),
      ...((oauth2 ?? authorization) && {
        oauth2: {
          ...(clientId !== undefined && { client_id: clientId }),
          client_secret: toKeptSecret(clientSecret !== undefined),
          ...(authorizationUrl !== undefined && { authorization_url: authorizationUrl }),
          ...(externalId !== undefined && { external_id: externalId }),
          ...(redirectUri !== undefined && { redirect_uri: redirectUri }),
          ...(authorization && { supported_scopes: authorization.scopes }),
        },
      }),
      ...(authorization && {
        authorization: {
          ...(authorization.userId !== undefined && { user_id: authorization.userId }),
          scopes: authorization.scopes,
        },
      }),
    }
  },
})

type Said = { [Name in keyof typeof settings]?: z.output<(typeof settings)[Name]> | null | undefined }
type OAuth2 = z.output<typeof oauth2> | null | undefined
type RequirementWire = z.output<typeof requirement>

/** What is said replaces what was; `null` takes it away. */
function changed(before: McpSettings, said: Said, oauth2: OAuth2): McpSettings {
  const { headers, namespace, token_meta, providers, requirements } = said
  const client = { ...(oauth2 === null ? {} : before.oauth2), ...toClient(oauth2 ?? {}) }
  return withoutAbsent({
    headers: over(before.headers, headers),
    namespace: over(before.namespace, namespace),
    tokenMeta: over(before.tokenMeta, token_meta),
    providers: over(before.providers, providers),
    requirements: over(before.requirements, requirements && toRequirements(requirements)),
    oauth2: Object.keys(withoutAbsent(client)).length > 0 ? withoutAbsent(client) : undefined,
  })
}

function toClient({ client_id, authorization_url, external_id }: NonNullable<OAuth2>) {
  return {
    ...(client_id !== undefined && { clientId: client_id ?? undefined }),
    ...(authorization_url !== undefined && { authorizationUrl: authorization_url ?? undefined }),
    ...(external_id !== undefined && { externalId: external_id ?? undefined }),
  }
}

function over<T>(before: T | undefined, said: T | null | undefined): T | undefined {
  return said === undefined ? before : (said ?? undefined)
}

function withoutAbsent<T extends object>(of: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const present = Object.entries(of).filter(([, value]) => value !== undefined)
  return Object.fromEntries(present) as { [K in keyof T]?: Exclude<T[K], undefined> } // only fewer members
}

function changedSecrets(
  kept: McpSecrets,
  secrets: Readonly<Record<string, string | null>> | null | undefined,
  oauth2: OAuth2,
): McpSecrets {
  const all = Object.entries(secrets === null ? {} : { ...kept.secrets, ...secrets })
  const clientSecret = oauth2 === null ? undefined : over(kept.clientSecret, oauth2?.client_secret)
  return {
    secrets: Object.fromEntries(all.filter((one): one is [string, string] => one[1] !== null)),
    ...(clientSecret && { clientSecret }),
  }
}

function toSecret(secrets: McpSecrets): string {
  return JSON.stringify(secrets)
}

function toRequirements(said: z.output<typeof requirements>): NonNullable<McpSettings['requirements']> {
  const { tools, ...all } = said
  return {
    ...toOne(all),
    ...(tools && {
      tools: Object.fromEntries(Object.entries(tools).map(([name, one]) => [name, toOne(one)])),
    }),
  }
}

function toOne({ authorization, secrets }: RequirementWire): McpRequirements {
  return {
    ...(authorization && {
      authorization: authorization.map(({ id, provider_id, scopes }) => ({
        ...(id !== undefined && { id }),
        ...(provider_id !== undefined && { providerId: provider_id }),
        scopes,
      })),
    }),
    ...(secrets && { secrets }),
  }
}

function requirementsToWire({ tools, ...all }: NonNullable<McpSettings['requirements']>): unknown {
  return {
    ...oneToWire(all),
    ...(tools && {
      tools: Object.fromEntries(Object.entries(tools).map(([name, one]) => [name, oneToWire(one)])),
    }),
  }
}

function oneToWire({ authorization, secrets }: McpRequirements) {
  return {
    ...(authorization && { authorization: authorization.map(requirementToWire) }),
    ...(secrets && { secrets }),
  }
}

function requirementToWire({ id, providerId, scopes }: AuthorizationRequirement) {
  return {
    ...(id !== undefined && { id }),
    ...(providerId !== undefined && { provider_id: providerId }),
    scopes,
  }
}
