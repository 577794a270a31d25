import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import type { AuthorizationRequirement, Tool } from '../../domain/tool.ts'
import { hasOwnName } from '../../domain/tool-name.ts'
import { findProviderByUid } from '../../flows/get-provider.ts'
import type { AddedFormat } from '../../operations/dialects/added-format.ts'
import { jsonSchema } from '../../operations/schemas/json-schemas.ts'
import { type Catalogue, catalogueOf } from '../../tools/catalogue/catalogue.ts'
import { getTool } from '../../tools/catalogue/get-tool.ts'
import { distinctNames, withoutTwins } from '../../tools/catalogue/listed-names.ts'
import { chosenRequirements } from '../../tools/catalogue/tool-requirements.ts'
import { newestFirst } from '../../tools/catalogue/versions.ts'
import { completedVersion, requiresUser, splitToolId } from './backend-tool.ts'
import { inlineReferences } from './wire-references.ts'

const text = z.string()
/** OXP's ToolDefinition, which allows no further members. Its schemas are without references. */
export const oxpToolSchema = z
  .object({
    id: text.meta({ description: '`Toolkit.Tool`, with `@x.y.z` where it has a version' }),
    name: text,
    description: text,
    version: text, // `x.y.z`; 0.0.0 if the tool has no version
    input_schema: jsonSchema,
    output_schema: jsonSchema.nullable().meta({ description: '`null`: the tool returns nothing' }),
    requirements: z
      .object({
        authorization: z
          .array(z.object({ id: text, oauth2: z.object({ scopes: z.array(text) }) }))
          .optional(),
        secrets: z.array(z.object({ id: text })).optional(),
        user_id: z.literal(true).optional(),
      })
      .optional(),
  })
  .openapi('OxpTool')

type OxpDefinition = z.infer<typeof oxpToolSchema>

/**
 * Lists every tool whose name is its source's own, in all its versions of the form `x.y.z`, the only form that OXP allows.
 * Of a tool's other versions, lists only the one that an id without a version means.
 */
export async function oxpDefinitions(broker: Broker, projectId: string): Promise<OxpDefinition[]> {
  const catalogue = await catalogueOf(broker, projectId)
  const tools = catalogue.tools.filter(hasOwnName)
  const names = oxpNames(catalogue)
  const newest = new Map(
    newestFirst(tools)
      .map((tool) => [names.pathOf(tool), tool] as const)
      .reverse(),
  )
  const listed = withoutTwins(tools).filter(
    (tool) => hasOxpVersion(tool.version) || newest.get(names.pathOf(tool)) === tool,
  )
  return Promise.all(listed.map((tool) => oxpDefinition(broker, tool, names)))
}

interface OxpNames {
  readonly pathOf: (tool: Tool) => string
  readonly nameOf: (tool: Tool) => string
}

const namesOfCatalogue = new WeakMap<Catalogue, OxpNames>()

/** The paths and names of the tools of a project. */
function oxpNames(catalogue: Catalogue): OxpNames {
  const known = namesOfCatalogue.get(catalogue)
  if (known !== undefined) return known
  const paths = distinctNames(catalogue.tools, oxpPath)
  const made: OxpNames = {
    pathOf: (tool) => paths.get(tool.uid) ?? oxpPath(tool),
    nameOf: (tool) => catalogue.modelNames.get(tool.uid) ?? tool.name,
  }
  namesOfCatalogue.set(catalogue, made)
  return made
}

/** Tools in the lists of `/v1`. */
export const oxpFormat: AddedFormat = {
  name: 'oxp',
  schema: oxpToolSchema,
  write: (broker, tool, catalogue) => oxpDefinition(broker, tool, oxpNames(catalogue)),
}

/** Describes one tool for OXP. */
async function oxpDefinition(
  broker: Broker,
  tool: Tool,
  { pathOf, nameOf }: OxpNames,
): Promise<OxpDefinition> {
  const { title, description, inputSchema, outputSchema = {} } = tool
  const needed = await chosenRequirements(broker, tool, undefined)
  const authorization = await Promise.all(
    needed.authorization.map(async (requirement) => ({
      id: await requirementId(broker, tool, requirement),
      oauth2: { scopes: [...requirement.scopes] },
    })),
  )
  const secrets = needed.secrets.map((id) => ({ id }))
  const hasRequirements = authorization.length > 0 || secrets.length > 0 || needsUser(tool)
  return {
    id: hasOxpVersion(tool.version) ? `${pathOf(tool)}@${oxpVersion(tool)}` : pathOf(tool),
    name: nameOf(tool),
    description: description === '' ? title : description,
    version: oxpVersion(tool),
    input_schema: inlineReferences(inputSchema),
    output_schema: outputSchema.type === 'null' ? null : inlineReferences(outputSchema),
    ...(hasRequirements && {
      requirements: {
        ...(authorization.length > 0 && { authorization }),
        ...(secrets.length > 0 && { secrets }),
        ...(needsUser(tool) && { user_id: true }),
      },
    }),
  }
}

/** The id of a requirement for callers: its own `id` or `providerId`, else the provider entry's id. */
export async function requirementId(
  broker: Broker,
  { projectId }: Pick<Tool, 'projectId'>,
  { id, providerId, providerUid }: AuthorizationRequirement,
): Promise<string> {
  const named = id ?? providerId
  if (named !== undefined) return named
  return (providerUid && (await findProviderByUid(broker, projectId, providerUid))?.id) ?? 'unknown'
}

/** Whether the tool acts for a user: it needs a user's authorization, or declares `user_id`. */
export function needsUser({ requirements, source }: Tool): boolean {
  const { authorization, alternatives = [] } = requirements
  return (
    authorization.length > 0 ||
    alternatives.some((alternative) => alternative.length > 0) ||
    requiresUser(source.document)
  )
}

/**
 * Returns the tool of an OXP id: the version that the id names (`@1` means 1.0.0), else the newest. Other spellings of a
 * tool are accepted too. Throws `not_found`, `ambiguous_tool`.
 */
export async function getOxpTool(broker: Broker, projectId: string, id: string): Promise<Tool> {
  const [spelling = ''] = id.split('@', 1)
  const { version } = splitToolId(id)
  const path = spelling.toLowerCase()
  const listed = await broker.cache.tools.get(`${projectId} \u0000oxp ${path}`, async () => {
    const catalogue = await catalogueOf(broker, projectId)
    const { tools } = catalogue
    const { pathOf } = oxpNames(catalogue)
    return newestFirst(tools.filter((tool) => hasOwnName(tool) && pathOf(tool).toLowerCase() === path))
  })
  const found = listed.find((tool) => version === undefined || oxpVersion(tool) === version)
  return found ?? getTool(broker, projectId, spelling, version)
}

function oxpPath({ namespace, name }: Tool): string {
  return [namespace === '' ? 'local' : namespace, name]
    .map((part) => part.replaceAll(/[^A-Za-z0-9_]/g, '_'))
    .join('.')
}

function hasOxpVersion(version: string | undefined): boolean {
  return version !== undefined && completedVersion(version) === oxpVersion({ version })
}

function oxpVersion({ version = '0.0.0' }: Pick<Tool, 'version'>): string {
  return /^\d+\.\d+\.\d+/.exec(completedVersion(version))?.[0] ?? '0.0.0'
}
