import type { Broker } from '../../broker.ts'
import { newId } from '../../domain/ids.ts'
import type { Tool } from '../../domain/tool.ts'
import type { Worker } from '../../domain/worker.ts'
import type { CatalogueTool } from '../backend.ts'

/** The stored tool that is made of a listed one. `digest` is that of its whole description. */
export function toTool(
  broker: Broker,
  { uid: workerUid, projectId }: Pick<Worker, 'uid' | 'projectId'>,
  { tool, tags, digest }: { tool: CatalogueTool; tags: readonly string[]; digest: string },
  same: Tool | undefined,
): Tool {
  const { document, title = tool.name, tags: _, ...rest } = tool
  const { namespace: toolkit, name, version } = tool
  const now = broker.now()
  return {
    ...rest,
    tags,
    uid: same?.uid ?? newId('tool'),
    projectId,
    title,
    source: { kind: 'worker', workerUid, document },
    binding: { workerUid, toolkit, name, version },
    digest,
    createdAt: same?.createdAt ?? now,
    updatedAt: now,
  }
}
