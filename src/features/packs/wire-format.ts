import { z } from 'zod'
import { errorDescription } from '../../operations/worker-types/openapi-answer.ts'
import { requestDescription } from '../../operations/worker-types/openapi-request.ts'

// A pack is a folder of data: `pack.json`, and a file for each tool. There is no code in a pack: what its data cannot say is a
// named mechanism of the HTTP tools, which every described request may use.

const scopes = z.array(z.string().min(1).max(500)).max(50)

/** `pack.json`: the service. */
export const packSchema = z
  .object({
    $schema: z.string().optional(),
    id: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'lower-case letters, digits and hyphens')
      .meta({ description: 'The name of the folder' }),
    name: z.string().min(1).max(100),
    namespace: z.string().regex(/^[A-Za-z][A-Za-z0-9]{0,30}$/, 'letters and digits'),
    version: z.string().regex(/^\d+\.\d+\.\d+$/, 'SemVer'),
    summary: z.string().min(1).max(300).meta({ description: 'What the tools are for, in a sentence' }),
    provider: z.string().min(1).max(200).meta({ description: 'The id of the provider in the catalogue' }),
    base_url: z
      .string()
      .regex(
        /^(?:https?:\/\/[^/?#]+|\{\{\w+\}\})(?:\/[^?#]*)?$/,
        'a URL; `{{name}}` is a value of the connection',
      )
      .meta({ description: 'The URLs of the tools are relative to it, unless they are absolute' }),
    headers: z.record(z.string(), z.string()).optional().meta({ description: 'Sent with every request' }),
    errors: errorDescription.optional(),
    sources: z.array(z.string()).min(1).meta({ description: 'What the tools were written after' }),
    checked: z.iso.date().meta({ description: 'When the tools were last compared with these sources' }),
  })
  .strict()

export const APPROVALS = ['none', 'ask'] as const

/** The file of a tool: a described request, and what a pack says besides. */
export const packToolSchema = requestDescription
  .omit({ authorization: true, version: true, tags: true })
  .extend({
    $schema: z.string().optional(),
    description: z.string().min(1).max(1000),
    provider: z.string().min(1).max(200).optional().meta({
      description:
        'The id of the provider in the catalogue whose connections this tool uses, where it is another than that of the pack',
    }),
    scopes: scopes.meta({ description: 'The least that the tool needs' }),
    alternatives: z
      .array(scopes)
      .max(10)
      .optional()
      .meta({ description: 'Other sets of scopes that suffice' }),
    approval: z.enum(APPROVALS).default('none').meta({
      description:
        '`ask`: the tool destroys something or reaches other people, so that a person should approve each call',
    }),
    checks: z
      .array(z.enum(['description', 'client']))
      .max(2)
      .default([])
      .meta({
        description:
          '`description`: compared with the description of the vendor’s API. `client`: the vendor’s client, or a well-kept one, sends the same request',
      }),
    examples: z
      .array(z.object({ input: z.record(z.string(), z.unknown()), answer: z.unknown() }).strict())
      .max(5)
      .optional()
      .meta({ description: 'An input, and what the API answers to it' }),
  })
  .strict()

export type PackHead = z.output<typeof packSchema>
export type PackTool = z.output<typeof packToolSchema>

export interface Pack extends PackHead {
  /** By name. */
  readonly tools: readonly PackTool[]
}
