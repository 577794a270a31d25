import { z } from '@hono/zod-openapi'
import { withoutUndefined } from '../../sdk/without-undefined.ts'
import type { RequestDescription, SchemeMapping } from '../../tools/openapi/openapi-settings.ts'
import { annotationsSchema } from '../dialects/run-schemas.ts'
import { scopeText } from '../schemas/fields.ts'
import { jsonSchema, jsonValue } from '../schemas/json-schemas.ts'

// The wire format of a single request, and of the credentials for a security scheme.

const scopeList = z.array(scopeText).max(100)
const name = z.string().min(1).max(200)
const byEntry = z.object({ id: name, scopes: scopeList.optional() }).strict()
const byKind = z.object({ provider_id: name, scopes: scopeList.optional() }).strict()

const header = z
  .string()
  .max(100)
  .optional()
  .meta({ description: 'The header of the token; `authorization` by default' })

const always = z.boolean().optional().meta({
  description:
    'Whether it is sent with operations for which the document requires no credential, too; without it, `sync_error` names them',
})

export const schemeMapping = z
  .union([
    byEntry.extend({ header, always }).strict(),
    byKind.extend({ header, always }).strict(),
    z.object({ secret: name, header, always }).strict(),
  ])
  .openapi('OpenapiCredential', {
    description:
      'The provider’s `id` or `provider_id`, or the key of a secret. `header` names the header for a scheme that the document does not define; `authorization` by default',
  })

const requestAuthorization = z
  .union([
    byEntry.extend({ header }).strict(),
    byKind.extend({ header }).strict(),
    z.object({ secret: name, in: z.enum(['header', 'query']), name: z.string().min(1).max(100) }).strict(),
  ])
  .openapi('OpenapiRequestCredential')

const texts = z.record(z.string(), z.string().max(4000))

export const requestDescription = z
  .object({
    name: z.string(),
    version: z
      .string()
      .regex(/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/, 'SemVer')
      .optional(),
    title: z.string().optional(),
    description: z.string(),
    method: z.string().default('GET'),
    url: z
      .string()
      .min(1)
      .max(4000)
      .meta({ description: 'Its path may have `{name}` for a property of the input' }),
    headers: texts.optional(),
    query: texts.optional().meta({ description: 'Constants, or `{name}` for a property of the input' }),
    body: jsonValue
      .optional()
      .meta({ description: 'Any JSON; `"{name}"` is replaced by a property of the input' }),
    content_type: z.enum(['application/json', 'application/x-www-form-urlencoded']).optional(),
    input_schema: jsonSchema,
    output_schema: jsonSchema.optional(),
    tags: z.array(z.string()).max(100).optional(),
    annotations: annotationsSchema.optional(),
    authorization: z.union([requestAuthorization, z.array(requestAuthorization).max(10)]).optional(),
  })
  .strict()
  .openapi('OpenapiRequest', { description: 'A tool that sends one HTTP request' })

type RequestWire = z.output<typeof requestDescription>

export function fromSchemeWire(sent: z.output<typeof schemeMapping>): SchemeMapping {
  if (!('provider_id' in sent)) return withoutUndefined(sent)
  const { provider_id: providerId, ...rest } = sent
  return { providerId, ...withoutUndefined(rest) }
}

export function toSchemeWire(mapping: SchemeMapping) {
  if ('secret' in mapping) return mapping
  const { id, providerId = '', scopes, ...rest } = mapping
  return {
    ...(id !== undefined ? { id } : { provider_id: providerId }),
    ...(scopes && { scopes: [...scopes] }),
    ...rest,
  }
}

export function toRequestSettings({
  content_type: contentType,
  input_schema: inputSchema,
  output_schema: outputSchema,
  annotations,
  authorization = [],
  ...sent
}: RequestWire): RequestDescription {
  return {
    ...withoutUndefined(sent),
    inputSchema,
    ...(contentType && { contentType }),
    ...(outputSchema && { outputSchema }),
    ...(annotations && { annotations: withoutUndefined(annotations) }),
    authorization: [authorization].flat().map((authorized) => {
      if ('secret' in authorized) return authorized
      const { header, scopes = [] } = authorized
      const scopesAndHeader = { scopes, ...(header !== undefined && { header }) }
      return 'id' in authorized
        ? { id: authorized.id, ...scopesAndHeader }
        : { providerId: authorized.provider_id, ...scopesAndHeader }
    }),
  }
}

export function toRequestWire(request: RequestDescription) {
  const { contentType, inputSchema, outputSchema, authorization = [], ...rest } = request
  return {
    ...rest,
    input_schema: inputSchema,
    ...(contentType && { content_type: contentType }),
    ...(outputSchema && { output_schema: outputSchema }),
    authorization: authorization.map((authorized) => {
      if ('secret' in authorized) return authorized
      const { providerId, ...sent } = authorized
      return { ...sent, ...(providerId !== undefined && { provider_id: providerId }) }
    }),
  }
}
