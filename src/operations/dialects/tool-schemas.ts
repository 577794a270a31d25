import { z } from '@hono/zod-openapi'
import { WORKER_STATUSES } from '../../domain/worker.ts'
import { type Parameter, VALUE_TYPES, type ValueSchema } from '../../sdk/worker/value-schema.ts'
import { AUTHORIZATION_STATUSES } from '../../tools/tool-answer.ts'
import { jsonObject } from '../schemas/json-schemas.ts'

// Tools and what they need, as Arcade's API describes them. arcade-tools.ts makes them.

const tokenStatus = z
  .enum(AUTHORIZATION_STATUSES)
  .meta({ description: 'What the user has granted; only if the request names a user' })
const met = z.boolean().meta({ description: 'Whether the requirement is met' })
const statusReason = z.string().meta({ description: 'Why it is not met, and what to do' })
const PROVIDER_STATUSES = ['active', 'inactive'] as const

const requiredProviderSchema = z
  .object({
    id: z.string().optional().meta({ description: 'The id of the provider entry' }),
    provider_id: z.string().optional().meta({ description: 'A well-known kind, such as `github`' }),
    provider_type: z.literal('oauth2'),
    oauth2: z.object({ scopes: z.array(z.string()) }),
    status: z
      .enum(PROVIDER_STATUSES)
      .optional()
      .meta({ description: 'Whether the provider is configured and switched on' }),
    status_reason: statusReason.optional(),
    token_status: tokenStatus.optional(),
  })
  .openapi('RequiredProvider')

const requiredSecretSchema = z
  .object({ key: z.string(), met: met.optional(), status_reason: statusReason.optional() })
  .openapi('RequiredSecret')

const requiredWorkerSchema = z
  .object({
    id: z.string(),
    met,
    status: z.enum(WORKER_STATUSES),
    status_reason: statusReason.optional(),
  })
  .openapi('RequiredWorker')

const requirementsSchema = z
  .object({
    met: z
      .boolean()
      .optional()
      .meta({ description: 'Whether all requirements are met; with `user_id`, for that user' }),
    authorization: requiredProviderSchema
      .optional()
      .meta({ description: 'The first provider whose requirement is not met. If all are met, the first' }),
    authorizations: z
      .array(requiredProviderSchema)
      .optional()
      .meta({ description: 'All providers, where there are several' }),
    secrets: z.array(requiredSecretSchema),
    worker: requiredWorkerSchema.optional().meta({ description: 'What runs the tool' }),
  })
  .openapi('ToolRequirements')

// zod's optional members may be `undefined`, which the types of the values exclude
const valueSchema = z
  .object({
    val_type: z.enum(VALUE_TYPES),
    inner_val_type: z.enum(VALUE_TYPES).optional().meta({ description: 'The type of the items of an array' }),
    enum: z.array(z.string()).optional(),
    properties: z.record(z.string(), z.lazy(self)).optional(),
    required_keys: z.array(z.string()).optional(),
    inner_properties: z.record(z.string(), z.lazy(self)).optional(),
    inner_required_keys: z.array(z.string()).optional(),
    items: z.lazy(self).optional(),
    nullable: z.literal(true).optional(),
    description: z.string().optional(),
  })
  .openapi('ValueSchema', {
    description: "The type of a value in the form of Arcade's API",
  }) as z.ZodType as z.ZodType<ValueSchema>

function self(): z.ZodType<ValueSchema> {
  return valueSchema
}

const parameterSchema = z
  .object({
    name: z.string(),
    value_schema: valueSchema,
    description: z.string().optional(),
    required: z.boolean(),
    inferrable: z.boolean().meta({ description: 'Whether a model can know its value' }),
  })
  .openapi('ToolParameter') as z.ZodType as z.ZodType<Parameter>

/** Arcade's ToolDefinition, with Gatepass's `tool_id`. */
export const toolDefinitionSchema = z
  .object({
    fully_qualified_name: z.string().meta({ description: '`Toolkit.Name@version`' }),
    qualified_name: z.string().meta({ description: '`Toolkit.Name`' }),
    name: z.string(),
    tool_id: z.string().meta({ description: '`namespace:name[:version]`' }),
    description: z.string(),
    toolkit: z.object({
      name: z.string(),
      version: z.string().optional(),
      description: z.string().optional(),
    }),
    input: z.object({
      parameters: z.array(parameterSchema),
    }),
    output: z.object({
      available_modes: z.array(z.string()),
      description: z.string().optional(),
      value_schema: valueSchema.optional(),
    }),
    requirements: requirementsSchema,
    metadata: jsonObject
      .optional()
      .meta({ description: 'What the worker states about the behavior of the tool' }),
    tags: z.array(z.string()).optional(),
  })
  .openapi('ToolDefinition')

export type RequiredProviderWire = z.infer<typeof requiredProviderSchema>
export type RequiredSecretWire = z.infer<typeof requiredSecretSchema>
export type RequiredWorkerWire = z.infer<typeof requiredWorkerSchema>
export type RequirementsWire = z.infer<typeof requirementsSchema>
export type ToolDefinition = z.infer<typeof toolDefinitionSchema>

const link = {
  authorization_id: z
    .string()
    .optional()
    .meta({ description: 'Set if the request has `authorize` and a consent is missing' }),
  url: z.string().optional().meta({ description: 'The link for the user' }),
}
const toolNames = z.array(z.string()).readonly().meta({ description: 'The ids of the tools that need it' })

function group<Item extends z.ZodType>(item: Item) {
  return z.object({ met: z.boolean(), items: z.record(z.string(), item) })
}

/** What several tools need together. */
export const manyRequirementsSchema = z
  .object({
    met: z.boolean(),
    authorization: group(
      z
        .object({
          met,
          provider_id: z.string(),
          provider_type: z.literal('oauth2'),
          scopes: z.array(z.string()).readonly(),
          status: z.enum(PROVIDER_STATUSES),
          status_reason: statusReason.optional(),
          token_status: tokenStatus.optional(),
          tool_names: toolNames,
          ...link,
        })
        .openapi('SharedProvider'),
    ).meta({ description: 'By the ids of the provider entries' }),
    secrets: group(
      requiredSecretSchema.omit({ key: true }).extend({ met, tool_names: toolNames }).openapi('SharedSecret'),
    ).meta({ description: 'By their keys' }),
    workers: group(
      requiredWorkerSchema.omit({ id: true }).extend({ tool_names: toolNames }).openapi('SharedWorker'),
    ).meta({ description: 'By their ids' }),
    ...link,
  })
  .openapi('SharedRequirements')

export type ManyRequirementsWire = z.infer<typeof manyRequirementsSchema>
