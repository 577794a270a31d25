import type { Broker } from '../../broker.ts'
import { BrokerError, invalidMember } from '../../domain/errors.ts'
import { normalizeTags } from '../../domain/tags.ts'
import { type Tool, toolId } from '../../domain/tool.ts'
import { changeRow } from '../../services/change-row.ts'
import { findToolsNamed, splitVersion } from '../../tools/catalogue/get-tool.ts'
import { sourceOf } from '../../tools/catalogue/tool-source.ts'
import { TOOL_SELECTORS, type Toolset } from './domain.ts'
import { getToolset } from './toolset.ts'
import { EVERY_TOOL } from './toolset-selection.ts'

/** The settings of a toolset. */
export type ToolsetSettings = Omit<
  Toolset,
  'id' | 'projectId' | 'toolSources' | 'mac' | 'createdAt' | 'updatedAt'
>

/** A change: absent members keep their value, `null` removes one. */
export type ToolsetChanges = {
  readonly [Member in keyof ToolsetSettings]?: ToolsetSettings[Member] | null
}

/** Throws `already_exists`, and `invalid_request` for selectors that are empty or ambiguous. */
export async function addToolset(
  broker: Broker,
  projectId: string,
  id: string,
  settings: ToolsetSettings,
): Promise<Toolset> {
  const now = broker.now()
  const toolset = await checked(broker, { id, projectId, ...settings, createdAt: now, updatedAt: now })
  const audit = broker.audit.of(projectId, { action: 'toolset.set', subject: id })
  if (await broker.store.toolsets.add(toolset, audit)) return toolset
  throw new BrokerError(
    'already_exists',
    `There is a toolset "${id}" already. PATCH /v1/toolsets/${id} changes it.`,
  )
}

/** Throws `invalid_request` like `addToolset`, and `not_found` when the toolset was deleted meanwhile. */
export async function changeToolset(
  broker: Broker,
  toolset: Toolset,
  changes: ToolsetChanges,
): Promise<Toolset> {
  const { projectId, id } = toolset
  const { toolsets } = broker.store
  const read = async () => {
    const stored = await toolsets.find(projectId, id)
    if (stored !== undefined) return stored
    throw new BrokerError('not_found', `There is no toolset "${id}" in this project.`)
  }
  const audit = broker.audit.of(projectId, { action: 'toolset.set', subject: id })
  return changeRow(`The toolset "${id}"`, toolset, read, async (current) => {
    const members = Object.entries({ ...current, ...changes }).filter(([, value]) => value !== null)
    const changed = Object.fromEntries(members) as unknown as Toolset // a `Toolset` again: no member is null
    const { toolSources, ...rest } = changed
    // tools that are not named again keep the sources that they were named for
    const kept = 'tools' in changes || toolSources === undefined ? {} : { toolSources }
    const next = await checked(broker, { ...rest, ...kept, updatedAt: broker.now() })
    return (await toolsets.change(current, next, audit)) ? next : undefined
  })
}

/** Throws `not_found`. */
export async function deleteToolset(broker: Broker, projectId: string, id: string): Promise<void> {
  const audit = broker.audit.of(projectId, { action: 'toolset.deleted', subject: id })
  if (!(await broker.store.toolsets.delete(projectId, id, audit))) await getToolset(broker, projectId, id)
}

/**
 * Checks the selectors. Returns the toolset with normalized tags, and with tool ids in place of the names of known
 * tools, so that another tool cannot take the place of one by its name. Throws `invalid_request`.
 */
async function checked(broker: Broker, toolset: Toolset): Promise<Toolset> {
  if (TOOL_SELECTORS.every((member) => (toolset[member] ?? []).length === 0))
    throw invalidMember(
      '',
      'missing',
      `A toolset selects tools by at least one of ${TOOL_SELECTORS.join(', ')}; ["${EVERY_TOOL}"] as tools selects every tool.`,
    )
  const { tools, tags } = toolset
  const found = tools && (await Promise.all(tools.map((name, i) => idForName(broker, toolset, name, i))))
  const sources = found?.flatMap(({ id, source }) => (source === undefined ? [] : [[id, source] as const]))
  return {
    ...toolset,
    ...(found && { tools: [...new Set(found.map(({ id }) => id))] }),
    ...(sources !== undefined && sources.length > 0 && { toolSources: Object.fromEntries(sources) }),
    ...(tags && { tags: tags.map(normalizedTag) }),
  }
}

function normalizedTag(tag: string, i: number): string {
  const [normal] = normalizeTags([tag])
  if (normal !== undefined) return normal
  throw invalidMember(`tags.${i}`, 'invalid', `tags.${i} has no letter or digit.`)
}

/**
 * The id of the tool that has this name, and its source. A name that no tool has is kept, and so is the source of a name
 * that has one. Throws `invalid_request` if several have it.
 */
async function idForName(
  broker: Broker,
  { projectId, toolSources }: Toolset,
  name: string,
  i: number,
): Promise<{ readonly id: string; readonly source?: string }> {
  const kept = toolSources?.[name]
  if (kept !== undefined) return { id: name, source: kept }
  if (name === EVERY_TOOL) return { id: name }
  const [tool, ...rivals] = await findToolsNamed(broker, projectId, name)
  if (tool === undefined) return { id: name }
  if (rivals.length === 0) return { id: idAsWritten(tool, name), source: await sourceOf(broker, tool) }
  throw invalidMember(
    `tools.${i}`,
    'conflict',
    `tools.${i} may be any of ${[tool, ...rivals].map(toolId).join(', ')}: use one of these ids.`,
  )
}

/** The tool's id, with the version or range that the written name has, if it has one. */
function idAsWritten({ namespace, name }: Tool, written: string): string {
  const [, version] = splitVersion(written)
  if (version === undefined) return toolId({ namespace, name })
  return namespace === '' ? `${name}@${version}` : toolId({ namespace, name, version })
}
