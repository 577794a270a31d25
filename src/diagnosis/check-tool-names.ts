import { type Tool, toolId } from '../domain/tool.ts'
import { hasOwnName, toolIdentity } from '../domain/tool-name.ts'
import { findWorkerByUid } from '../tools/catalogue/known-tools.ts'
import { ownerNameOf } from '../tools/catalogue/name-claims.ts'
import type { Check, DiagnosisTarget } from './check.ts'

const MAX_LISTED = 20

/** Lists the tools whose names belong to another source, or to none. */
export async function checkToolNames({ broker, project }: DiagnosisTarget): Promise<Check[]> {
  const byName = new Map<string, Tool>()
  for (const tool of await broker.cache.catalogue.of(project.id))
    if (!hasOwnName(tool)) byName.set(`${toolIdentity(tool)} ${workerUidOf(tool)}`, tool)
  if (byName.size === 0) return []
  const listed = await Promise.all(
    [...byName.values()].slice(0, MAX_LISTED).map(async (tool) => {
      const { namespace, name, owner } = tool
      const workerUid = workerUidOf(tool)
      const worker = workerUid === undefined ? undefined : await findWorkerByUid(broker, workerUid)
      const source = workerUid === undefined ? 'imported' : `worker ${worker?.id ?? workerUid}`
      const of =
        owner === undefined
          ? 'not accepted'
          : `the name belongs to ${await ownerNameOf(broker, owner.source)}`
      return `${toolId({ namespace, name })} (${source}; ${of})`
    }),
  )
  const more = byName.size - listed.length
  return [
    {
      name: 'names of tools',
      status: 'warning',
      message: `Tools that are in no list, because their names do not belong to their source: ${listed.join(', ')}${more > 0 ? ` and ${more} more` : ''}. Each runs by its full id alone.`,
      fix: 'If the name should be that of the worker: gatepass workers accept <id>. If not, take the tool out of the worker, or delete the imported tool.',
    },
  ]
}

function workerUidOf({ source }: Tool): string | undefined {
  return source.kind === 'worker' ? source.workerUid : undefined
}
