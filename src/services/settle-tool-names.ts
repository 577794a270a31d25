import type { Log } from '../domain/log.ts'
import { IMPORTS, type ToolName, toolIdentity, toolkitIdentity } from '../domain/tool-name.ts'
import type { Store } from '../store/store.ts'
import type { AuditLog } from './audit-log.ts'

const TOOLS_AT_ONCE = 200
const NAMES_AT_ONCE = 100

/**
 * Gives the names of a database from a release without owners to the sources that have the tools: each name to the
 * source of the oldest tool. `gatepass doctor` lists the tools that other sources have under these names. Runs only before
 * the rows of that release are signed: later, names without an owner are names whose rows were deleted.
 */
export async function settleToolNames(
  {
    store,
    unsigned,
    audit,
    log,
  }: {
    readonly store: Store
    /** The store that checks no MACs: the tools of that release have none. */
    readonly unsigned: Pick<Store, 'tools'>
    readonly audit: AuditLog
    readonly log: Log
  },
  operatorsProject: string,
): Promise<void> {
  let count = 0
  for (const { id: projectId } of await store.projects.list()) {
    const names = [...(await oldestOwners(unsigned, projectId)).values()]
    for (let i = 0; i < names.length; i += NAMES_AT_ONCE)
      await store.toolNames.settle(names.slice(i, i + NAMES_AT_ONCE))
    count += names.length
  }
  if (count === 0) return
  await audit.record(operatorsProject, { action: 'worker.named', reason: `names ${count}` })
  log.info({ names: count }, 'names of tools were given to the sources that have them')
}

async function oldestOwners(
  { tools }: Pick<Store, 'tools'>,
  projectId: string,
): Promise<ReadonlyMap<string, ToolName>> {
  const names = new Map<string, ToolName>()
  const add = (identity: string, source: string, since: number) => {
    if (!names.has(identity)) names.set(identity, { projectId, identity, source, since })
  }
  let after = ''
  for (;;) {
    // uids begin with the time
    const { rows, next } = await tools.page(projectId, after, TOOLS_AT_ONCE)
    for (const { namespace, name, source, createdAt } of rows) {
      const owner = source.kind === 'worker' ? source.workerUid : IMPORTS
      if (source.kind === 'worker' && namespace !== '') add(toolkitIdentity(namespace), owner, createdAt)
      add(toolIdentity({ namespace, name }), owner, createdAt)
    }
    if (next === undefined) return names
    after = next
  }
}
