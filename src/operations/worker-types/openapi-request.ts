import { z } from '@hono/zod-openapi'
import { withoutUndefined } from '../../sdk/without-undefined.ts'
import type { RequestDescription, SchemeMapping } from '../../tools/openapi/openapi-settings.ts'
import { annotationsSchema } from '../dialects/run-schemas.ts'
import { scopeText } from '../schemas/fields.ts'
import { jsonSchema, jsonValue } from '../schemas/json-schemas.ts'
import {
  answerDescription,
  errorDescription,
  pagesDescription,
  toAnswerSettings,
  toAnswerWire,
  toErrorSettings,
  toErrorWire,
  toPagesSettings,
  toPagesWire,
} from './openapi-answer.ts'

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

const alternatives = z.array(scopeList).max(10).optional().meta({
  description: 'Other sets of scopes that suffice; only where this is the single credential',
})

const requestAuthorization = z
  .union([
    byEntry.extend({ alternatives, header }).strict().openapi('OpenapiRequestToken'),
    byKind.extend({ alternatives, header }).strict().openapi('OpenapiRequestTokenByKind'),
    z.object({ secret: name, in: z.enum(['header', 'query']), name: z.string().min(1).max(100) }).strict(),
  ])
  .openapi('OpenapiRequestCredential')

const templates = z.record(z.string(), jsonValue)
const CONVERTED = 'or a conversion: an object whose first member begins with `$`'

const parts = {
  method: z.string().default('GET'),
  url: z.string().min(1).max(4000).meta({
    description:
      'Absolute, or a path below `server_url`. Its path may have `{name}` for a property of the input, and `{{name}}` for a value of the connection',
  }),
  path: templates.optional().meta({
    description: `The values of placeholders in the path that are not simply a property of the input: conversions`,
  }),
  headers: templates.optional().meta({ description: `Constants, \`{name}\`, ${CONVERTED}` }),
  query: templates
    .optional()
    .meta({ description: `Constants, \`{name}\` for a property of the input, ${CONVERTED}` }),
  body: jsonValue.optional().meta({
    description: `Any JSON; \`"{name}"\` is replaced by a property of the input, and so is a conversion by what it makes of one`,
  }),
  content_type: z.string().max(100).optional().meta({
    description:
      'JSON, a form, `multipart/related`, or a type of text; or `{name}` for one that the input names',
  }),
}

export const requestDescription = z
  .object({
    name: z.string(),
    version: z
      .string()
      .regex(/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/, 'SemVer')
      .optional(),
    title: z.string().optional(),
    description: z.string(),
    ...parts,
    follow_redirects: z.boolean().optional().meta({
      description:
        'Whether a redirect is followed, at most twice, over https and without the token: for files that lie elsewhere. For GET alone',
    }),
    input_schema: jsonSchema,
    output_schema: jsonSchema.optional(),
    tags: z.array(z.string()).max(100).optional(),
    annotations: annotationsSchema.optional(),
    authorization: z.union([requestAuthorization, z.array(requestAuthorization).max(10)]).optional(),
    answer: answerDescription.optional(),
    errors: errorDescription.optional(),
    pages: pagesDescription
      .extend({
        request: z
          .object(parts)
          .partial()
          .extend({ method: z.string().optional() })
          .strict()
          .optional()
          .meta({
            description: 'What differs in the request for the pages after the first',
          }),
      })
      .optional(),
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
  follow_redirects: followRedirects,
  input_schema: inputSchema,
  output_schema: outputSchema,
  annotations,
  authorization = [],
  answer,
  errors,
  pages,
  ...sent
}: RequestWire): RequestDescription {
  return {
    ...withoutUndefined(sent),
    inputSchema,
    ...(contentType && { contentType }),
    ...(followRedirects && { followRedirects }),
    ...(answer && { answer: toAnswerSettings(answer) }),
    ...(errors && { errors: toErrorSettings(errors) }),
    ...(pages && { pages: toPagesSettings(pages) }),
    ...(outputSchema && { outputSchema }),
    ...(annotations && { annotations: withoutUndefined(annotations) }),
    authorization: [authorization].flat().map((authorized) => {
      if ('secret' in authorized) return authorized
      const { header, scopes = [], alternatives } = authorized
      const scopesAndHeader = withoutUndefined({ scopes, alternatives, header })
      return 'id' in authorized
        ? { id: authorized.id, ...scopesAndHeader }
        : { providerId: authorized.provider_id, ...scopesAndHeader }
    }),
  }
}

export function toRequestWire(request: RequestDescription) {
  const {
    contentType,
    followRedirects,
    inputSchema,
    outputSchema,
    authorization = [],
    answer,
    errors,
    pages,
    ...rest
  } = request
  return {
    ...rest,
    input_schema: inputSchema,
    ...(contentType && { content_type: contentType }),
    ...(followRedirects && { follow_redirects: followRedirects }),
    ...(outputSchema && { output_schema: outputSchema }),
    ...(answer && { answer: toAnswerWire(answer) }),
    ...(errors && { errors: toErrorWire(errors) }),
    ...(pages && { pages: toPagesWire(pages) }),
    authorization: authorization.map((authorized) => {
      if ('secret' in authorized) return authorized
      const { providerId, alternatives, ...sent } = authorized
      return {
        ...sent,
        ...(alternatives && { alternatives: alternatives.map((scopes) => [...scopes]) }),
        ...(providerId !== undefined && { provider_id: providerId }),
      }
    }),
  }
}
