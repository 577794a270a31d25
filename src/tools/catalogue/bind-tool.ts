import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { type Tool, toolAliases, toolId } from '../../domain/tool.ts'
import type { Worker } from '../../domain/worker.ts'
import { isNewerVersion } from './versions.ts'

/**
 * Binds a metadata tool to the worker's tool that runs it: to the newest version unless the name says one. Throws
 * `invalid_request` for a tool that a worker lists itself, `not_found` when the worker has no such tool or the metadata
 * tool was deleted meanwhile.
 */
export async function bindTool(broker: Broker, tool: Tool, worker: Worker, name: string): Promise<Tool> {
  if (tool.source.kind !== 'metadata')
    throw new BrokerError(
      'invalid_request',
      'Only a tool imported from metadata can be bound; a worker runs its own tools itself.',
    )
  const tools = await broker.cache.catalogue.of(worker.projectId)
  const target = tools
    .filter(
      (other) =>
        other.source.kind === 'worker' &&
        other.source.workerUid === worker.uid &&
        toolAliases(other).includes(name.toLowerCase()),
    )
    .reduce<Tool | undefined>(
      (newest, other) => (newest === undefined || isNewerVersion(other, newest) ? other : newest),
      undefined,
    )
  if (target?.binding === undefined)
    throw new BrokerError(
      'not_found',
      `The worker "${worker.id}" has no tool "${name.slice(0, 120)}". GET /v1/workers/${worker.id}/tools lists those it has.`,
    )
  const audit = broker.audit.of(tool.projectId, {
    action: 'tool.bound',
    tool: toolId(tool),
    subject: worker.id,
  })
  const bound = await broker.store.tools.bind(
    { uid: tool.uid, binding: target.binding, updatedAt: broker.now() },
    audit,
  )
  if (bound !== undefined) return { ...bound, ...(tool.owner && { owner: tool.owner }) }
  throw new BrokerError('not_found', `The tool "${toolId(tool)}" was deleted meanwhile.`)
}
