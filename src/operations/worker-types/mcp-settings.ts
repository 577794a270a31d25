import { z } from '@hono/zod-openapi'
import type { AuthorizationRequirement } from '../../domain/tool.ts'
import { changed } from '../../providers/definition/member.ts'
import { withoutUndefined } from '../../sdk/without-undefined.ts'
import {
  hasSecretPlaceholder,
  type McpRequirements,
  type McpSecrets,
  type McpSettings,
} from '../../tools/mcp/settings.ts'
import { idText, plainText, scopeText } from '../schemas/fields.ts'
import { workerUri } from './define.ts'

// The settings of an MCP server: reads the wire's form into the stored form, and writes it back.

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/
/** Headers that the protocol, HTTP or this broker sets. */
const OWN_HEADERS =
  /^(mcp-.*|host|connection|content-.*|accept|accept-encoding|transfer-encoding|te|upgrade|keep-alive|trailer|expect|last-event-id|proxy-.*)$/i
/** How a header refers to a secret. */
const AS_SECRET = `\${secret:NAME}`
const SECRET_HEADERS = /auth|cookie|key|token|secret|password|credential/i

const headers = z.record(z.string(), z.string().max(2000)).superRefine((sent, ctx) => {
  const refuse = (name: string, message: string) => ctx.addIssue({ code: 'custom', path: [name], message })
  for (const [name, value] of Object.entries(sent)) {
    if (!HEADER_NAME.test(name) || OWN_HEADERS.test(name)) refuse(name, 'is not a header that can be set')
    else if (!/^[\x20-\x7e]*$/.test(value)) refuse(name, 'has characters that are not allowed in headers')
    else if (SECRET_HEADERS.test(name) && !hasSecretPlaceholder(value))
      refuse(name, `is a secret by its name: keep its value in mcp.secrets and write ${AS_SECRET} here`)
  }
})
export const secretName = z.string().regex(/^[A-Za-z0-9_.-]{1,100}$/, 'letters, digits, _ . - only')
export const secretValue = z.string().min(1).max(4000)
export const brokerSecret = z.string().min(32).max(100).meta({
  description:
    'Shared with the server: every request is signed with it, as for workers over HTTP, so that the server can trust `_meta`',
  writeOnly: true,
})

const requirement = z
  .object({
    authorization: z
      .array(
        z
          .object({
            id: idText.optional(),
            provider_id: idText.optional(),
            scopes: z.array(scopeText).max(200).default([]),
          })
          .refine(
            (required) => required.id !== undefined || required.provider_id !== undefined,
            'needs `id` or `provider_id`',
          ),
      )
      .max(20)
      .optional(),
    secrets: z.array(secretName).max(50).optional(),
  })
  .openapi('McpToolRequirements')
export const mcpRequirements = requirement.extend({
  tools: z.record(z.string().max(128), requirement).optional(),
})

export const mcpSettingsShape = {
  headers: headers.meta({
    description: `Sent with every request; ${AS_SECRET} is replaced by that secret`,
  }),
  namespace: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,128}$/, 'letters, digits, _ . - only')
    .meta({
      description: 'The namespace of its tools; by default it is made from the server’s own name',
    }),
  token_meta: z
    .string()
    .regex(/^[A-Za-z0-9_./-]{1,100}$/, 'letters, digits, _ . / - only')
    .meta({
      description:
        'The member of a call’s `_meta` that carries tokens and secrets; `arcade_context` by default',
    }),
  providers: z.array(idText).max(100).meta({
    description: 'The only providers that its tools may declare for themselves; all by default',
  }),
  requirements: mcpRequirements.meta({
    description:
      'The requirements of tools that declare none. Those in `tools`, by the name of a tool, replace what the tool declares',
  }),
}
export const mcpOAuth2 = z.object({
  client_id: plainText(1000).nullish(),
  client_secret: z.string().max(1000).nullish().meta({ writeOnly: true }),
  authorization_url: workerUri.nullish().meta({
    description: 'The issuer to use, where the server names several authorization servers or none',
  }),
  external_id: plainText(50).nullish(),
  scopes: z.array(scopeText).max(100).nullish().meta({
    description:
      'Requested in addition to those that the server lists. `openid` is requested only if it is listed here; then the ID token is checked',
  }),
})

type Sent = {
  [Name in keyof typeof mcpSettingsShape]?: z.output<(typeof mcpSettingsShape)[Name]> | null | undefined
}
type OAuth2 = z.output<typeof mcpOAuth2> | null | undefined
type RequirementWire = z.output<typeof requirement>

/** A value replaces the stored setting, and `null` removes it. */
export function changedSettings(before: McpSettings, sent: Sent, oauth2: OAuth2): McpSettings {
  const { headers, namespace, token_meta, providers, requirements } = sent
  const client = { ...(oauth2 === null ? {} : before.oauth2), ...toClient(oauth2 ?? {}) }
  return withoutUndefined({
    headers: changed(headers, before.headers),
    namespace: changed(namespace, before.namespace),
    tokenMeta: changed(token_meta, before.tokenMeta),
    providers: changed(providers, before.providers),
    requirements: changed(requirements && toRequirements(requirements), before.requirements),
    oauth2: Object.keys(withoutUndefined(client)).length > 0 ? withoutUndefined(client) : undefined,
  })
}

function toClient({ client_id, authorization_url, external_id, scopes }: NonNullable<OAuth2>) {
  return {
    ...(client_id !== undefined && { clientId: client_id ?? undefined }),
    ...(authorization_url !== undefined && { authorizationUrl: authorization_url ?? undefined }),
    ...(external_id !== undefined && { externalId: external_id ?? undefined }),
    ...(scopes !== undefined && { scopes: scopes ?? undefined }),
  }
}

/** The secrets after a change. An absent member keeps the stored secret, and `null` removes it. */
export function changedSecrets(
  kept: McpSecrets,
  secrets: Readonly<Record<string, string | null>> | null | undefined,
  oauth2: OAuth2,
  secret: string | null | undefined,
): McpSecrets {
  const all = Object.entries(secrets === null ? {} : { ...kept.secrets, ...secrets })
  const clientSecret = oauth2 === null ? undefined : changed(oauth2?.client_secret, kept.clientSecret)
  const brokerSecret = changed(secret, kept.brokerSecret)
  return {
    secrets: Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== null)),
    ...(clientSecret && { clientSecret }),
    ...(brokerSecret && { brokerSecret }),
  }
}

/** The text that is stored encrypted with the worker. */
export function toSecret(secrets: McpSecrets): string {
  return JSON.stringify(secrets)
}

function toRequirements(sent: z.output<typeof mcpRequirements>): NonNullable<McpSettings['requirements']> {
  const { tools, ...all } = sent
  return {
    ...toToolRequirements(all),
    ...(tools && {
      tools: Object.fromEntries(
        Object.entries(tools).map(([name, requirements]) => [name, toToolRequirements(requirements)]),
      ),
    }),
  }
}

function toToolRequirements({ authorization, secrets }: RequirementWire): McpRequirements {
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

export function requirementsToWire({ tools, ...all }: NonNullable<McpSettings['requirements']>): unknown {
  return {
    ...toolRequirementsToWire(all),
    ...(tools && {
      tools: Object.fromEntries(
        Object.entries(tools).map(([name, required]) => [name, toolRequirementsToWire(required)]),
      ),
    }),
  }
}

function toolRequirementsToWire({ authorization, secrets }: McpRequirements) {
  return {
    ...(authorization && { authorization: authorization.map(authorizationToWire) }),
    ...(secrets && { secrets }),
  }
}

function authorizationToWire({ id, providerId, scopes }: AuthorizationRequirement) {
  return {
    id,
    provider_id: providerId,
    scopes,
  }
}
