import type { Broker } from '../../broker.ts'
import { type Tool, toolId } from '../../domain/tool.ts'
import type { Worker } from '../../domain/worker.ts'
import { findWorkerByUid, namedTools } from '../catalogue/known-tools.ts'

/** What a tool runs on, and the tool as that knows it; or a sentence that says why nothing runs it. */
export type Runner =
  | { readonly outcome: 'found'; readonly worker: Worker; readonly own: Tool }
  | { readonly outcome: 'none'; readonly message: string }

export async function whatRuns(broker: Broker, tool: Tool): Promise<Runner> {
  const { binding } = tool
  const worker = binding && (await findWorkerByUid(broker, binding.workerUid))
  if (binding === undefined || worker === undefined)
    return none(
      `Nothing runs the tool "${tool.title}" yet: bind it to a worker by POST /v1/tools/${toolId(tool)}/binding {"worker_id", "tool"}.`,
    )
  if (!worker.enabled)
    return none(`The worker "${worker.id}", which runs the tool "${tool.title}", is switched off.`)
  if (tool.source.kind === 'worker') return { outcome: 'found', worker, own: tool }
  const { toolkit: namespace, name, version } = binding
  const id = toolId({ namespace, name, ...(version !== undefined && { version }) }).toLowerCase()
  const named = await namedTools(broker, tool.projectId, id)
  const own = named.find(({ source }) => source.kind === 'worker' && source.workerUid === worker.uid)
  if (own === undefined)
    return none(
      `The worker "${worker.id}" does not list ${namespace}.${name} any more, which the tool "${tool.title}" is bound to. Bind it to another by POST /v1/tools/${toolId(tool)}/binding.`,
    )
  return { outcome: 'found', worker, own }
}

function none(message: string): Runner {
  return { outcome: 'none', message }
}
