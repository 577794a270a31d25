import type { Broker } from '../../broker.ts'
import type { AuditEvent } from '../../domain/audit.ts'
import { BrokerError } from '../../domain/errors.ts'
import type { WaitingDefinition } from '../../domain/pinned-tool.ts'
import { type Tool, toolId } from '../../domain/tool.ts'
import type { Worker } from '../../domain/worker.ts'
import type { CatalogueTool } from '../backend.ts'
import { claimEvents, nameRightsOf } from './name-claims.ts'
import { MAX_TOOLS_WRITTEN, storeChanges } from './store-changes.ts'
import { toTool } from './to-tool.ts'

/**
 * Stores these definitions as the worker's tools. Each is stored only while it still waits: throws `not_accepted` for the
 * first that does not, after those before it. `own` has the stored tools of the worker.
 */
export async function acceptDefinitions(
  broker: Broker,
  worker: Worker,
  own: readonly Tool[],
  accepted: readonly WaitingDefinition[],
): Promise<void> {
  if (accepted.length === 0) return
  const { uid: workerUid, projectId } = worker
  const texts = new Map((await broker.store.pinnedTools.definitions(workerUid)).map((row) => [row.tool, row]))
  const stored = new Map(own.map((tool) => [toolId(tool).toLowerCase(), tool]))
  const definitions = accepted.map((row) => {
    const { waiting, definition } = texts.get(row.tool) ?? {}
    if (waiting !== row.waiting || definition === undefined) throw changedMeanwhile(worker)
    return { ...row, definition, listedTool: JSON.parse(definition) as CatalogueTool } // written by `pinCatalogue`
  })
  const rights = await nameRightsOf(broker, worker, {
    tools: definitions.map(({ listedTool }) => listedTool),
    own,
    claimsFreely: false,
  })
  const put = definitions.map(({ tool, waiting, listed, definition, listedTool }) => ({
    characters: definition.length,
    accepts: { workerUid, tool, waiting },
    toTool: () => {
      const { tags = [] } = listedTool
      return toTool(
        broker,
        worker,
        { tool: listedTool, tags, digest: listed },
        stored.get(tool.toLowerCase()),
      )
    },
  }))
  for (let i = 0; i < put.length; i += MAX_TOOLS_WRITTEN) {
    const end = i + MAX_TOOLS_WRITTEN
    const names = i === 0 ? rights.claims : []
    const events = [...acceptEvents(worker, accepted.slice(i, end)), ...claimEvents(worker, names)]
    const entries = events.map((event) => broker.audit.of(projectId, event))
    const isWritten = await storeChanges(
      broker,
      projectId,
      { put: put.slice(i, end), removed: [], names },
      {
        audit: {
          ...broker.audit.of(projectId, { action: 'worker.accepted', subject: worker.id }),
          lines: entries.flatMap(({ lines }) => lines),
        },
        mayContinue: () => broker.store.workers.findByUid(workerUid),
      },
    )
    if (!isWritten) throw changedMeanwhile(worker)
  }
}

export function changedMeanwhile({ id }: Worker): BrokerError {
  return new BrokerError(
    'not_accepted',
    `What waits at the worker "${id}" is not what you looked at, so nothing more was accepted: look at GET /v1/workers/${id} again.`,
  )
}

function acceptEvents({ id: subject }: Worker, accepted: readonly WaitingDefinition[]): AuditEvent[] {
  return accepted.map(({ tool, waiting }) => ({
    action: 'worker.accepted',
    subject,
    tool,
    reason: `definition ${waiting}`,
  }))
}
