import type { Sealed } from '../../domain/sealed.ts'
import type { ListedExecution } from '../../store/execution-lists.ts'
import type { Page } from '../../store/page.ts'
import { sealedColumnsOf, sealingContext } from '../../store/protected-tables.ts'
import type { SealedColumn } from '../../store/protection.ts'
import { type Sealer, UnsealError } from '../../store/seal.ts'
import type { Store } from '../../store/store.ts'
import type { ScheduledRequest, ScheduledRun } from './scheduled-run.ts'

/** How many scheduled runs of a project are read at once. */
const SIGNED_AT_ONCE = 100

/** Seals into the requests of runs that 0.1.0 has scheduled what `isAsScheduled` compares. */
export async function signScheduledRuns(store: Store, sealer: Sealer): Promise<void> {
  for (const { id: projectId } of await store.projects.list()) {
    let after: string | undefined = ''
    while (after !== undefined) {
      const page: Page<ListedExecution> = await store.executions.list(
        projectId,
        { status: 'scheduled' },
        { offset: 0, limit: SIGNED_AT_ONCE, ...(after !== '' && { after }) },
      )
      for (const { id } of page.items) await signScheduledRun(store, sealer, projectId, id)
      after = page.items.length < SIGNED_AT_ONCE ? undefined : page.items.at(-1)?.id
    }
  }
}

async function signScheduledRun(store: Store, sealer: Sealer, projectId: string, id: string): Promise<void> {
  const record = await store.executions.find(projectId, id)
  if (record?.request === undefined) return
  const context = sealingContext('executions', 'request', { id, projectId })
  const request = openOrNone(
    () => JSON.parse(sealer.open(record.request as Sealed, context)) as ScheduledRequest,
  )
  if (request === undefined) return // it cannot run either
  const { userId, toolId: tool, entryPoint, apiKeyId, runAt, createdAt } = record
  const scheduled: ScheduledRun = {
    toolId: tool,
    entryPoint,
    ...(userId !== undefined && { userId }),
    ...(apiKeyId !== undefined && { apiKeyId }),
    ...(runAt !== undefined && { runAt }),
    createdAt,
  }
  const to = sealer.seal(JSON.stringify({ ...request, scheduled }), context)
  await store.envelopes.exchange(REQUESTS, [{ rowId: id, from: record.request, to }])
}

const REQUESTS = sealedColumnsOf([]).find(
  ({ table, column }) => table === 'executions' && column === 'request',
) as SealedColumn

function openOrNone(open: () => ScheduledRequest): ScheduledRequest | undefined {
  try {
    return open()
  } catch (error) {
    if (error instanceof UnsealError) return undefined
    throw error
  }
}
