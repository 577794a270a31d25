import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { functionName, type Tool } from '../../domain/tool.ts'
import { hasOwnName } from '../../domain/tool-name.ts'
import { type Catalogue, catalogueOf } from '../../tools/catalogue/catalogue.ts'
import { getTool as get } from '../../tools/catalogue/get-tool.ts'
import { namedTools } from '../../tools/catalogue/known-tools.ts'
import { modelNames, withoutTwins } from '../../tools/catalogue/listed-names.ts'
import type { RequirementStatus } from '../../tools/catalogue/requirement-context.ts'
import { requirementsOfMany } from '../../tools/catalogue/requirements-of-many.ts'
import { searchTools } from '../../tools/catalogue/search-tools.ts'
import { toolsAt } from '../../tools/catalogue/selected-tools.ts'
import { cachedText } from '../../tools/catalogue/text-cache.ts'
import { formatTool, type ToolFormat } from '../../tools/catalogue/tool-formats.ts'
import { requirementStatus, requirementStatuses } from '../../tools/catalogue/tool-requirements.ts'
import { JsonText } from '../answer.ts'
import {
  definitionJson,
  manyRequirementsToWire,
  readBehaviourFilter,
  toDefinition,
} from '../dialects/arcade-tools.ts'
import { addedFormats, FORMATS, formattedSchema, formattedToolSchema } from '../dialects/format-schemas.ts'
import { manyRequirementsSchema, toolDefinitionSchema } from '../dialects/tool-schemas.ts'
import { defineOperation } from '../operation.ts'
import { idText, plainText, toolNameText, userIdText } from '../schemas/fields.ts'
import { jsonObject } from '../schemas/json-schemas.ts'
import { pageQuery, pageSchema, slicePage } from '../schemas/page.ts'

const nameParams = z.object({ name: toolNameText })
const userQuery = { user_id: userIdText.optional() }
const formats = z
  .string()
  .optional()
  .transform((text) => (text ?? '').split(',').filter(Boolean))
  .pipe(z.array(z.enum(FORMATS)))
const listQuery = {
  toolkit: z.string().max(200).optional(),
  toolset: idText.optional().meta({
    description: 'Only the tools of this toolset, one version of each, under their names in the project',
  }),
  ...userQuery,
  include_all_versions: z.enum(['true', 'false']).default('false'),
  q: plainText(200)
    .optional()
    .meta({ description: 'Words that must all occur in its names, its description or its tags' }),
  tag: z.string().max(500).optional().meta({ description: 'Any of these tags, separated by commas' }),
  provider: idText.optional().meta({ description: 'Tools that need this provider' }),
  met: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: 'Whether all its requirements are met, for `user_id` if one is given' }),
  filter: z.string().max(4000).optional().meta({
    description:
      'Arcade’s filter, as JSON: `service_domains` and `operations` by `any_of`, `all_of`, `none_of`; `read_only`, `destructive`, `idempotent`, `open_world`; `extras`',
  }),
  ...pageQuery,
}
const listSchema = z.object(listQuery)
const describedToolSchema = toolDefinitionSchema
  .extend({
    formatted_schema: formattedSchema
      .optional()
      .meta({ description: 'In the formats that `include_format` names' }),
  })
  .openapi('DescribedTool')
const toolDetailSchema = describedToolSchema
  .extend({
    document: jsonObject.optional().meta({ description: 'The metadata of an imported tool' }),
  })
  .openapi('ToolDetail')
const tag = 'Tools'

const formatQuery = z.enum(FORMATS).default('openai')

/** The names of tools in lists, which are read only when a format needs them. */
interface Names {
  readonly model: () => Promise<ReadonlyMap<string, string>>
  readonly catalogue: () => Promise<Catalogue>
}

export const listTools = defineOperation({
  id: 'listTools',
  method: 'get',
  path: '/v1/tools',
  role: 'readonly',
  keysOfUsers: 'user_id',
  tag,
  summary: 'The known tools, and whether their requirements are met',
  description: 'With `user_id`, each says in `token_status` what that user has granted.',
  query: z.object({ ...listQuery, include_format: formats }),
  answer: 'A page',
  output: pageSchema(describedToolSchema),
  async run(broker, { query, caller }) {
    const [tools, names] = await toolsOfList(broker, caller.projectId, query)
    const page = slicePage(tools, query)
    const statuses = await requirementStatuses(broker, caller.projectId, page.items, query.user_id)
    const items: string[] = []
    for (const [i, status] of statuses.entries())
      items.push(await define(broker, page.items[i] as Tool, status, query.include_format, names)) // one per tool
    return JsonText.page(page, items)
  },
})

export const getTool = defineOperation({
  id: 'getTool',
  method: 'get',
  path: '/v1/tools/{name}',
  role: 'readonly',
  keysOfUsers: 'user_id',
  tag,
  summary: 'One tool, by any of its names',
  description: 'An imported tool comes with its metadata in `document`, without any secret.',
  params: nameParams,
  query: z.object({ ...userQuery, include_format: formats }),
  answer: 'The tool',
  output: toolDetailSchema,
  async run(broker, { params, query, caller }) {
    const tool = await get(broker, caller.projectId, params.name)
    const status = await requirementStatus(broker, tool, query.user_id)
    const definition = await define(broker, tool, status, query.include_format, namesOf(broker, tool))
    if (tool.source.kind !== 'metadata') return new JsonText(definition)
    return new JsonText(`${definition.slice(0, -1)},"document":${JSON.stringify(tool.source.document)}}`)
  },
})

export const listFormattedTools = defineOperation({
  id: 'listFormattedTools',
  method: 'get',
  path: '/v1/formatted_tools',
  role: 'readonly',
  keysOfUsers: 'user_id',
  tag,
  summary: 'The known tools in the format of a model provider',
  query: z.object({ ...listQuery, format: formatQuery }),
  answer: 'A page',
  output: pageSchema(formattedToolSchema),
  async run(broker, { query, caller }) {
    const [tools, names] = await toolsOfList(broker, caller.projectId, query)
    const page = slicePage(tools, query)
    const items: string[] = []
    for (const tool of page.items) items.push(await inFormat(broker, tool, query.format, names))
    return JsonText.page(page, items)
  },
})

export const getFormattedTool = defineOperation({
  id: 'getFormattedTool',
  method: 'get',
  path: '/v1/formatted_tools/{name}',
  role: 'readonly',
  keysOfUsers: 'user_id',
  tag,
  summary: 'One tool in the format of a model provider',
  params: nameParams,
  query: z.object({ ...userQuery, format: formatQuery }),
  answer: 'The tool',
  output: formattedToolSchema,
  async run(broker, { params, query, caller }) {
    const tool = await get(broker, caller.projectId, params.name)
    return new JsonText(await inFormat(broker, tool, query.format, namesOf(broker, tool)))
  },
})

export const getToolRequirements = defineOperation({
  id: 'getToolRequirements',
  method: 'post',
  path: '/v1/tools/requirements',
  role: 'caller',
  keysOfUsers: 'user_id',
  tag,
  summary: 'What many tools need together',
  description:
    'Each provider with the scopes of all the tools, and each secret, met or not. With `authorize`, one link leads the user through all that is missing.',
  body: z
    .object({
      tool_names: z.array(toolNameText).max(100).optional(),
      tools: z
        .array(z.object({ tool_name: toolNameText, tool_version: z.string().max(100).nullish() }))
        .max(100)
        .optional(),
      user_id: userIdText.nullish(),
      authorize: z.boolean().nullish(),
    })
    .refine(({ tool_names, tools }) => tool_names !== undefined || tools !== undefined, {
      message: 'name tools in tool_names or tools',
    }),
  answer: 'What they need',
  output: manyRequirementsSchema,
  async run(broker, { body, caller: { projectId } }) {
    const named = [
      ...(body.tool_names ?? []).map((name) => ({ name, version: undefined })),
      ...(body.tools ?? []).map(({ tool_name, tool_version }) => ({
        name: tool_name,
        version: tool_version ?? undefined,
      })),
    ]
    const tools: Tool[] = []
    for (const { name, version } of named) tools.push(await get(broker, projectId, name, version))
    const options = {
      ...(body.user_id != null && { userId: body.user_id }),
      authorize: body.authorize === true,
    }
    return manyRequirementsToWire(await requirementsOfMany(broker, projectId, tools, options))
  },
})

async function toolsOfList(
  broker: Broker,
  projectId: string,
  query: z.output<typeof listSchema>,
): Promise<readonly [readonly Tool[], Names]> {
  const {
    toolkit,
    toolset,
    include_all_versions: all,
    q,
    tag: tags,
    provider,
    met,
    user_id: userId,
    filter,
  } = query
  const search = {
    ...(q !== undefined && { text: q }),
    ...(tags !== undefined && { tags: tags.split(',') }),
    ...(provider !== undefined && { provider }),
    ...(met !== undefined && { met: met === 'true' }),
    ...(userId !== undefined && { userId }),
    ...(filter !== undefined && { filter: readBehaviourFilter(filter) }),
  }
  const catalogue = await catalogueOf(broker, projectId)
  const shown = toolset === undefined ? undefined : await toolsAt(broker, projectId, toolset)
  const listed =
    shown?.tools.map(({ tool }) => tool) ??
    (all === 'true' ? catalogue.tools.filter(hasOwnName) : catalogue.newest)
  const wanted =
    toolkit === undefined
      ? listed
      : listed.filter((tool) => tool.namespace.toLowerCase() === toolkit.toLowerCase())
  const found = await searchTools(broker, wanted, search)
  return [found === catalogue.newest ? catalogue.listed : withoutTwins(found), namesIn(catalogue)]
}

function namesIn(catalogue: Catalogue): Names {
  return {
    model: async () => catalogue.modelNames,
    catalogue: async () => catalogue,
  }
}

/** The names of one tool. Its name for models is found without reading all tools. */
function namesOf(broker: Broker, tool: Tool): Names {
  return {
    model: async () => modelNames(await namedTools(broker, tool.projectId, functionName(tool).toLowerCase())),
    catalogue: () => catalogueOf(broker, tool.projectId),
  }
}

/** The tool in the format, as JSON text. */
async function inFormat(broker: Broker, tool: Tool, format: string, names: Names): Promise<string> {
  const added = addedFormats.find(({ name }) => name === format)
  if (added !== undefined) return JSON.stringify(await added.write(broker, tool, await names.catalogue()))
  if (format === 'arcade')
    return cachedText(tool, format, () => JSON.stringify(toDefinition(tool, undefined)))
  const name = (await names.model()).get(tool.uid)
  const modelFormat = format === 'json_schema' ? 'jsonschema' : (format as ToolFormat) // of the enum `FORMATS`
  return cachedText(tool, `${format} ${name ?? ''}`, () =>
    JSON.stringify(formatTool(tool, modelFormat, name)),
  )
}

/** The definition of the tool with the formats to include, as JSON text. */
async function define(
  broker: Broker,
  tool: Tool,
  status: RequirementStatus,
  include: readonly string[],
  names: Names,
): Promise<string> {
  if (include.length === 0) return definitionJson(tool, status)
  const formatted: string[] = []
  for (const format of new Set(include))
    formatted.push(`${JSON.stringify(format)}:${await inFormat(broker, tool, format, names)}`)
  return definitionJson(tool, status, `,"formatted_schema":{${formatted.join()}}`)
}
