import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { type Tool, toolId } from '../../domain/tool.ts'
import { IMPORTS, toolIdentity } from '../../domain/tool-name.ts'
import { getTool } from './get-tool.ts'

/**
 * Deletes an imported tool by any of its names. With its last version the name is free for other sources. Throws `not_found`, `ambiguous_tool` when there are several versions and the
 * name does not choose one, and `invalid_request` for a tool of a worker, which would list it again.
 */
export async function deleteTool(broker: Broker, projectId: string, spelling: string): Promise<Tool> {
  const tool = await getTool(broker, projectId, spelling)
  if (tool.source.kind !== 'metadata')
    throw new BrokerError(
      'invalid_request',
      `The tool "${toolId(tool)}" comes from a worker, which would list it again. Delete the worker, or take the tool out there.`,
    )
  const identity = toolIdentity(tool)
  const versions = (await broker.cache.catalogue.of(projectId)).filter(
    (other) => other.source.kind === 'metadata' && toolIdentity(other) === identity,
  )
  if (versions.length > 1 && !choosesOne(spelling, tool))
    throw new BrokerError(
      'ambiguous_tool',
      `"${spelling.slice(0, 120)}" has several versions: ${versions.map(toolId).join(', ')}. Use one of these ids.`,
    )
  const isLast = versions.length === 1
  const audit = broker.audit.of(projectId, {
    action: 'tool.deleted',
    tool: toolId(tool),
    ...(isLast && { reason: 'its name is free' }),
  })
  const name = { projectId, identity, source: IMPORTS }
  await broker.store.tools.delete(tool.uid, audit, isLast ? name : undefined)
  return tool
}

/** Whether the name selects one version: it is the tool's full id, or it ends with the tool's version. */
function choosesOne(spelling: string, tool: Tool): boolean {
  const name = spelling.toLowerCase()
  const { version } = tool
  if (name === toolId(tool).toLowerCase()) return true
  return (
    version !== undefined && [`@${version}`, `:${version}`].some((end) => name.endsWith(end.toLowerCase()))
  )
}
