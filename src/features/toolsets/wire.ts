import { z } from '@hono/zod-openapi'
import type { BrokerSettings } from '../../broker.ts'
import { toTimestamp } from '../../domain/clock.ts'
import { isToolsetId, TOOL_LISTINGS } from '../../domain/shown-tools.ts'
import { toolId } from '../../domain/tool.ts'
import { plainText, toolNameText } from '../../operations/schemas/fields.ts'
import type { ShownTool, ShownTools } from '../../tools/catalogue/shown-tools.ts'
import { TOOL_NAMINGS, type Toolset } from './domain.ts'
import type { ToolsetChanges, ToolsetSettings } from './toolset-settings.ts'

// Toolsets on the wire. Unknown members are refused, because a misspelled selector would select nothing.

const selectors = {
  tools: z.array(toolNameText).max(500).meta({
    description:
      'Names of tools, in any spelling that a tool answers to, with a version or without; `["*"]` is every tool. Answers give the ids of known tools',
  }),
  namespaces: z.array(plainText(128)).max(100),
  tags: z.array(plainText(64)).max(100),
  providers: z
    .array(plainText(200))
    .max(100)
    .meta({ description: 'Tools that need one of these providers, by id' }),
}

const names = z.enum(TOOL_NAMINGS).meta({
  description:
    '`prefixed`: `Namespace_Tool`, as in the other lists; `bare`: the tool’s own name, or the prefixed one if another tool of the toolset has that name already. A bare name is never given to another tool',
})
const instructions = z
  .string()
  .min(1)
  .max(10_000)
  .refine((text) => text.isWellFormed() && !/(?![\n\t])\p{Cc}/u.test(text), 'has control characters')
  .meta({ description: 'Text for the model about these tools' })
const listing = z.enum(TOOL_LISTINGS).meta({
  description:
    '`all`: MCP clients list every tool; `search`: they list a tool that searches and one that calls. Absent: `search` for more than 128 tools',
})

const toolsetIdText = z
  .string()
  .refine(isToolsetId, 'must have 1 to 64 lower-case letters, digits and hyphens')
  .meta({ pattern: '^[a-z0-9-]{1,64}$' })

/** What a toolset selects and says. */
const settings = {
  tools: selectors.tools.nullish(),
  namespaces: selectors.namespaces.nullish(),
  tags: selectors.tags.nullish(),
  providers: selectors.providers.nullish(),
  names: names.optional(),
  instructions: instructions.nullish(),
  listing: listing.nullish(),
}

export const newToolsetSchema = z.strictObject({
  id: toolsetIdText.meta({ description: 'MCP clients reach the toolset at `/mcp/{id}`' }),
  ...settings,
  names: names.default('prefixed'),
})

export const toolsetChangesSchema = z.strictObject(settings)

export const toolsetSchema = z
  .object({
    id: z.string(),
    url: z.string().meta({ description: 'The address for MCP clients' }),
    tools: selectors.tools.optional(),
    namespaces: selectors.namespaces.optional(),
    tags: selectors.tags.optional(),
    providers: selectors.providers.optional(),
    names,
    instructions: instructions.optional(),
    listing: listing.optional(),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .openapi('Toolset')

export const toolsetDetailSchema = toolsetSchema
  .extend({
    tool_count: z.number().int().meta({ description: 'The tools that are in it now' }),
    warnings: z.array(z.object({ path: z.string(), message: z.string() })).meta({
      description: 'Selectors that match no tool now. They also select tools that are added later',
    }),
  })
  .openapi('ToolsetDetail')

export const shownToolSchema = z
  .object({
    name: z.string().meta({ description: 'The name for MCP clients: at most 48 of `[A-Za-z0-9_-]`' }),
    tool_id: z.string(),
    description: z.string(),
  })
  .openapi('ShownTool')

export function shownToolToWire({ name, tool }: ShownTool): z.infer<typeof shownToolSchema> {
  return { name, tool_id: toolId(tool), description: tool.description }
}

type Selectors = { readonly [Name in keyof typeof selectors]?: string[] | null | undefined }

export function settingsFromWire(body: z.output<typeof newToolsetSchema>): ToolsetSettings {
  const { names, instructions, listing } = body
  return {
    ...present(body),
    names,
    ...(instructions != null && { instructions }),
    ...(listing != null && { listing }),
  }
}

/** The selectors that select something. */
function present({ tools, namespaces, tags, providers }: Selectors) {
  return {
    ...(tools?.length && { tools }),
    ...(namespaces?.length && { namespaces }),
    ...(tags?.length && { tags }),
    ...(providers?.length && { providers }),
  }
}

export function changesFromWire(body: z.output<typeof toolsetChangesSchema>): ToolsetChanges {
  const { tools, namespaces, tags, providers, names, instructions, listing } = body
  return {
    ...(tools !== undefined && { tools: orNull(tools) }),
    ...(namespaces !== undefined && { namespaces: orNull(namespaces) }),
    ...(tags !== undefined && { tags: orNull(tags) }),
    ...(providers !== undefined && { providers: orNull(providers) }),
    ...(names !== undefined && { names }),
    ...(instructions !== undefined && { instructions }),
    ...(listing !== undefined && { listing }),
  }
}

/** An empty list selects nothing, as an absent one does. */
function orNull(list: string[] | null): string[] | null {
  return list?.length === 0 ? null : list
}

export function toolsetToWire(
  { publicUrl }: Pick<BrokerSettings, 'publicUrl'>,
  toolset: Toolset,
): z.infer<typeof toolsetSchema> {
  const { id, tools, namespaces, tags, providers, names, instructions, listing } = toolset
  return {
    id,
    url: new URL(`/mcp/${id}`, publicUrl).href,
    ...(tools && { tools: [...tools] }),
    ...(namespaces && { namespaces: [...namespaces] }),
    ...(tags && { tags: [...tags] }),
    ...(providers && { providers: [...providers] }),
    names,
    instructions,
    listing,
    created_at: toTimestamp(toolset.createdAt),
    updated_at: toTimestamp(toolset.updatedAt),
  }
}

export function detailToWire(
  settings: Pick<BrokerSettings, 'publicUrl'>,
  toolset: Toolset,
  { tools, warnings }: Pick<ShownTools, 'tools' | 'warnings'>,
): z.infer<typeof toolsetDetailSchema> {
  return {
    ...toolsetToWire(settings, toolset),
    tool_count: tools.length,
    warnings: warnings.map(({ path, message }) => ({ path, message })),
  }
}
