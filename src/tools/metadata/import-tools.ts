import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { toolId } from '../../domain/tool.ts'
import type { Worker } from '../../domain/worker.ts'
import { changeRow } from '../../services/change-row.ts'
import { MAX_CHARACTERS_WRITTEN, MAX_TOOLS_WRITTEN } from '../catalogue/store-changes.ts'
import { createTimeBudget } from '../slices.ts'
import { type ImportState, readImportState } from './import-state.ts'
import { type DocumentToRead, type ImportedTool, type ReadDocument, readDocument } from './read-document.ts'

export interface ImportOptions {
  readonly worker?: Worker | undefined
  /** Reports what an import would do, and writes nothing. */
  readonly dryRun?: boolean
}

/**
 * Imports documents in their order. Each is imported completely or not at all, and importing it again changes nothing.
 * Several documents are written in one transaction, and other requests are served between two documents.
 */
export async function importTools(
  broker: Broker,
  projectId: string,
  documents: readonly unknown[],
  { worker, dryRun = false }: ImportOptions = {},
): Promise<ImportedTool[]> {
  const dryState = dryRun ? await readImportState(broker, projectId) : undefined
  const budget = createTimeBudget()
  const imported: ImportedTool[] = []
  while (imported.length < documents.length) {
    const state = dryState ?? (await readImportState(broker, projectId))
    const group: ReadDocument[] = []
    const next = documents.slice(imported.length, imported.length + MAX_TOOLS_WRITTEN)
    let characters = 0
    for (const document of next) {
      const read = await readDocument(broker, { projectId, document, worker, state, dryRun })
      group.push(read)
      if (read.write !== undefined) {
        state.add(read.write.tool, read.write.entries)
        characters += JSON.stringify(read.write.tool).length
      }
      const pause = budget.pause()
      if (pause !== undefined) await pause
      if (characters > MAX_CHARACTERS_WRITTEN) break
    }
    if (dryRun || (await tryWrite(broker, projectId, { state, group })))
      imported.push(...group.map((document) => document.imported))
    else
      for (const document of next.slice(0, group.length))
        imported.push(await importAlone(broker, { projectId, document, worker }))
  }
  return imported
}

interface GroupToWrite {
  /** The state with which the documents were read. */
  readonly state: ImportState
  readonly group: readonly ReadDocument[]
}

/**
 * Writes all documents in one transaction. Returns `false` when another request has just added one of their tools or
 * providers, or has changed one of their providers.
 */
async function tryWrite(broker: Broker, projectId: string, { state, group }: GroupToWrite): Promise<boolean> {
  const writes = group.flatMap(({ write }) => write ?? [])
  const [first, ...others] = writes.map(({ tool }) =>
    broker.audit.of(projectId, { action: 'tool.imported', tool: toolId(tool) }),
  )
  if (first === undefined) return true
  // several documents may change one entry: its last version includes the earlier changes
  const entries = new Map(writes.flatMap((write) => write.entries.map((entry) => [entry.uid, entry])))
  const changes = {
    put: writes.map(({ tool }) => tool),
    removed: [],
    names: writes.flatMap(({ name }) => name ?? []),
    entries: [...entries.values()].map((to) => {
      const from = state.storedEntry(to.uid)
      return { ...(from && { from }), to }
    }),
  }
  const audit = { ...first, lines: [...first.lines, ...others.flatMap(({ lines }) => lines)] }
  try {
    return await broker.store.tools.change(projectId, changes, audit)
  } catch (error) {
    if (error instanceof BrokerError && error.code === 'already_exists') return false
    throw error
  }
}

/** Imports one document. It is read again, because other requests have just added or changed tools or providers. */
async function importAlone(
  broker: Broker,
  of: Pick<DocumentToRead, 'projectId' | 'document' | 'worker'>,
): Promise<ImportedTool> {
  const { projectId } = of
  const read = () => readImportState(broker, projectId, { isExact: true })
  return changeRow('A tool or provider of the import', await read(), read, async (state) => {
    const document = await readDocument(broker, { ...of, state, dryRun: false })
    return (await tryWrite(broker, projectId, { state, group: [document] })) ? document.imported : undefined
  })
}
