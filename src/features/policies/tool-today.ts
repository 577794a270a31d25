import type { Broker } from '../../broker.ts'
import { hintsOf, toolAliases } from '../../domain/tool.ts'
import { namedTools } from '../../tools/catalogue/known-tools.ts'
import { resolveRunner, useOfTool } from '../../tools/run/preconditions.ts'
import type { ToolToday } from './dry-run.ts'

/** The names and hosts by which policies now match a tool of the audit trail. A deleted tool has the names of its id. */
export async function toolToday(broker: Broker, projectId: string, id: string): Promise<ToolToday> {
  const [tool] = await namedTools(broker, projectId, id.toLowerCase())
  if (tool === undefined) {
    const aliases = aliasesOf(id)
    return { aliases, ownNames: aliases, hints: hintsOf({}) }
  }
  const runner = await resolveRunner(broker, tool)
  const { tool: named, worker, hosts } = useOfTool(tool, [], runner, {})
  const { aliases = [], ownNames = [], hints = [] } = named ?? {}
  return { aliases, ownNames, hints, ...(worker !== undefined && { worker, hosts }) }
}

function aliasesOf(id: string): readonly string[] {
  const [first = '', name, version] = id.split(':')
  const named = name === undefined ? { namespace: '', name: first } : { namespace: first, name }
  return toolAliases({
    ...named,
    title: id,
    source: { kind: 'metadata' },
    version,
  })
}
