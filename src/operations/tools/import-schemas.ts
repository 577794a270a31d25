import { z } from '@hono/zod-openapi'
import { JSON_VALUE } from '../schemas/json-schemas.ts'

// The import of tool metadata on the wire. The schema of the metadata is for documentation only: read-metadata.ts reads
// the metadata, and repairs common faults of real files.

const text = { type: 'string' } as const
const flag: { type: ('string' | 'boolean' | 'null')[] } = { type: ['string', 'boolean', 'null'] }
const schema = { type: 'object', additionalProperties: JSON_VALUE } as const
const maybe = (description: string) => ({ type: ['string', 'null'] as ['string', 'null'], description })

const toolMetadataSchema = z.unknown().openapi('ToolMetadata', {
  description: 'Tool metadata in the Shinkai format (docs/guides/tool-metadata.md); other members are kept',
  type: 'object',
  properties: {
    name: { ...text, description: 'The title of the tool. Its name is derived from the title' },
    tool_set: maybe('The namespace; `local` when empty'),
    version: { type: ['string', 'number', 'null'], description: 'SemVer' },
    description: maybe('What it does'),
    parameters: { ...schema, description: 'A JSON Schema of the input' },
    result: { ...schema, description: 'A JSON Schema of the output' },
    configurations: {
      ...schema,
      description: 'A JSON Schema; its members that look secret become secrets of the tool',
    },
    oauth: {
      type: ['array', 'null'],
      description: 'The providers that the tool needs',
      items: {
        type: 'object',
        properties: {
          name: text,
          version: maybe('`2.0`'),
          responseType: maybe('`code`'),
          authorizationUrl: maybe('Not needed beside `issuer`'),
          tokenUrl: maybe('Not needed beside `issuer`'),
          issuer: maybe('Its metadata supplies what the entry leaves out'),
          scopes: { type: ['array', 'null'], items: text },
          scopeImplies: { type: ['object', 'null'], additionalProperties: { type: 'array', items: text } },
          scopeAliases: { type: ['object', 'null'], additionalProperties: text },
          clientId: maybe('May be empty: it can be set later'),
          clientSecret: maybe('May be empty'),
          redirectUrl: maybe('For information: the redirect URI is that of the answer'),
          pkceType: maybe('`S256` or `plain`'),
          requestTokenContentType: maybe('The media type of token requests'),
          requestTokenAuthHeader: maybe('`basic`, or absent'),
          tokenTypes: { type: ['array', 'null'], items: text },
          refreshToken: { ...flag, description: 'Whether a refresh token is asked for' },
        },
        required: ['name'],
        additionalProperties: JSON_VALUE,
      },
    },
  },
  required: ['name'],
  additionalProperties: JSON_VALUE,
})

/** One document or several. */
export const importSchema = z.union([
  toolMetadataSchema,
  z.unknown().meta({ type: 'array', items: { $ref: '#/components/schemas/ToolMetadata' } }),
])

const importedToolSchema = z
  .object({
    name: z.string(),
    tool_id: z.string().optional(),
    result: z.enum(['created', 'updated', 'unchanged', 'refused']),
    reason: z.string().optional().meta({ description: 'Why it was refused, and what to do' }),
    providers: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        redirect_uri: z.string().optional().meta({ description: 'To register at the provider' }),
        missing: z
          .array(z.string())
          .readonly()
          .meta({ description: '`client_id`, `client_secret`: what is still to be set' }),
      }),
    ),
    warnings: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .readonly()
      .meta({ description: 'Where the tool was read differently from what the document says' }),
  })
  .openapi('ImportedTool')

export const importResultSchema = z
  .object({ items: z.array(importedToolSchema) })
  .openapi('ImportResult', { description: 'The result of each document, in their order' })

export type ImportedToolWire = z.infer<typeof importedToolSchema>
